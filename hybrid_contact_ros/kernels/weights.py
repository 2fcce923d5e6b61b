"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem_given": 1.47,
        "estimation.late_rates.prompt_rates_given": 0.28,
        "estimation.measure.measure_given": 2.84,
        "estimation.late_rates.note_rates_given": 0.77,
        "estimation.update.update_given": 93.8,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "estimation.difference_noise.difference_noise": 0.42,
        "impacts.landing_chain.landing_chain": 5.26,
        "impacts.landing_law.landing_outcomes": 2.82,
        "impacts.landing_bounds.landing_bounds": 11.29,
        "impacts.increment_modes.effort": 0.06,
        "impacts.set_plan.plan_set": 10.4,
        "impacts.landing_law.contact_response": 0.44,
        "impacts.set_gathering.gather_set": 3.06,
        "impacts.invariant_basis.invariant_basis": 1.24,
        "impacts.set_extent.set_extent": 0.73,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.99,
        "sensitivity.cluster_words.cluster_words": 25.56,
        "sensitivity.cluster_moments.cluster_moments": 3.12,
        "mechanics.contact_gradient.contact_motion_gradient": 0.91,
        "mechanics.contact_gradient.contact_force_gradient": 0.43,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 15.47},
    "EXACT": {"impacts.sampling.sample_batch": 14.3},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.34,
        "messages.measurements.base_measurement": 0.52,
        "messages.measurements.carried": 0.27,
        "messages.measurements.note_missed": 0.42,
        "messages.inertial_trail.add_measurement": 0.23,
        "messages.inertial_trail.covers": 0.14,
        "messages.inertial_trail.carried_by_unit": 0.81,
        "messages.inertial_trail.compare_rates": 0.33,
        "messages.contacts.write_contact_mode": 0.37,
    },
}
