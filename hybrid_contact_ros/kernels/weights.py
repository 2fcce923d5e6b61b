"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem_given": 2.27,
        "estimation.measure.measure_given": 4.3,
        "estimation.update.update_given": 106.64,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "estimation.difference_noise.difference_noise": 0.54,
        "impacts.landing_chain.landing_chain": 6.35,
        "impacts.landing_law.landing_outcomes": 4.27,
        "impacts.landing_bounds.landing_bounds": 12.63,
        "impacts.increment_modes.effort": 0.04,
        "impacts.set_plan.plan_set": 14.25,
        "impacts.landing_law.contact_response": 0.68,
        "impacts.set_gathering.gather_set": 3.79,
        "impacts.invariant_basis.invariant_basis": 1.67,
        "impacts.set_extent.set_extent": 1.2,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 1.49,
        "sensitivity.cluster_words.cluster_words": 36.99,
        "sensitivity.cluster_moments.cluster_moments": 5.03,
        "mechanics.contact_gradient.contact_motion_gradient": 1.59,
        "mechanics.contact_gradient.contact_force_gradient": 0.69,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 19.24},
    "EXACT": {"impacts.sampling.sample_batch": 19.0},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.3,
        "messages.measurements.base_measurement": 0.55,
        "messages.measurements.carried": 0.23,
        "messages.measurements.note_missed": 0.44,
        "messages.inertial_trail.add_measurement": 0.24,
        "messages.inertial_trail.covers": 0.13,
        "messages.inertial_trail.carried_by_unit": 0.92,
        "messages.inertial_trail.compare_rates": 0.37,
        "messages.contacts.write_contact_mode": 0.52,
    },
}
