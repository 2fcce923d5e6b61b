"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem_given": 1.11,
        "estimation.measure.measure_given": 1.29,
        "estimation.update.update_given": 33.16,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "estimation.difference_noise.difference_noise": 0.28,
        "impacts.landing_chain.landing_chain": 2.91,
        "impacts.landing_law.landing_outcomes": 1.77,
        "impacts.landing_bounds.landing_bounds": 5.75,
        "impacts.increment_modes.effort": 0.03,
        "impacts.set_plan.plan_set": 6.38,
        "impacts.landing_law.contact_response": 0.24,
        "impacts.set_gathering.gather_set": 1.8,
        "impacts.invariant_basis.invariant_basis": 0.75,
        "impacts.set_extent.set_extent": 0.46,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.52,
        "sensitivity.cluster_words.cluster_words": 15.57,
        "sensitivity.cluster_moments.cluster_moments": 1.91,
        "mechanics.contact_gradient.contact_motion_gradient": 0.51,
        "mechanics.contact_gradient.contact_force_gradient": 0.24,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 8.22},
    "EXACT": {"impacts.sampling.sample_batch": 7.95},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.17,
        "messages.measurements.base_measurement": 0.29,
        "messages.measurements.carried": 0.12,
        "messages.measurements.note_missed": 0.25,
        "messages.contacts.write_contact_mode": 0.24,
    },
}
