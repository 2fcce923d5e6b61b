"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.29,
        "estimation.measure.measure": 1.46,
        "estimation.update.update": 27.08,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.landing_chain.landing_chain": 3.24,
        "impacts.landing_law.landing_outcomes": 2.08,
        "impacts.landing_bounds.landing_bounds": 7.19,
        "impacts.increment_modes.effort": 0.04,
        "impacts.set_plan.plan_set": 7.78,
        "impacts.landing_law.contact_response": 0.28,
        "impacts.set_gathering.gather_set": 2.31,
        "impacts.invariant_basis.invariant_basis": 0.95,
        "impacts.set_extent.set_extent": 0.56,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.64,
        "sensitivity.cluster_words.cluster_words": 18.58,
        "sensitivity.cluster_moments.cluster_moments": 2.41,
        "mechanics.contact_gradient.contact_motion_gradient": 0.65,
        "mechanics.contact_gradient.contact_force_gradient": 0.28,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 12.54},
    "EXACT": {"impacts.sampling.sample_batch": 10.56},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.21,
        "messages.measurements.base_measurement": 0.32,
        "messages.measurements.carried": 0.13,
        "messages.contacts.write_contact_mode": 0.23,
    },
}
