"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem_given": 1.14,
        "estimation.measure.measure_given": 1.37,
        "estimation.update.update_given": 36.82,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "estimation.difference_noise.difference_noise": 0.3,
        "impacts.landing_chain.landing_chain": 3.18,
        "impacts.landing_law.landing_outcomes": 2.1,
        "impacts.landing_bounds.landing_bounds": 6.77,
        "impacts.increment_modes.effort": 0.03,
        "impacts.set_plan.plan_set": 7.4,
        "impacts.landing_law.contact_response": 0.28,
        "impacts.set_gathering.gather_set": 2.11,
        "impacts.invariant_basis.invariant_basis": 0.81,
        "impacts.set_extent.set_extent": 0.54,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.58,
        "sensitivity.cluster_words.cluster_words": 18.04,
        "sensitivity.cluster_moments.cluster_moments": 2.4,
        "mechanics.contact_gradient.contact_motion_gradient": 0.64,
        "mechanics.contact_gradient.contact_force_gradient": 0.26,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 10.96},
    "EXACT": {"impacts.sampling.sample_batch": 9.49},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.18,
        "messages.measurements.base_measurement": 0.4,
        "messages.measurements.carried": 0.13,
        "messages.contacts.write_contact_mode": 0.25,
    },
}
