"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.48,
        "estimation.measure.measure": 1.72,
        "estimation.update.update": 17.43,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.landing_chain.landing_chain": 3.07,
        "impacts.landing_law.landing_outcomes": 2.19,
        "impacts.landing_bounds.landing_bounds": 5.03,
        "impacts.increment_modes.effort": 0.04,
        "impacts.set_plan.plan_set": 7.29,
        "impacts.landing_law.contact_response": 0.29,
        "impacts.set_gathering.gather_set": 2.1,
        "impacts.invariant_basis.invariant_basis": 0.89,
        "impacts.set_extent.set_extent": 0.42,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.61,
        "sensitivity.cluster_words.cluster_words": 18.34,
        "sensitivity.cluster_moments.cluster_moments": 2.43,
        "mechanics.contact_gradient.contact_motion_gradient": 0.65,
        "mechanics.contact_gradient.contact_force_gradient": 0.26,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 12.56},
    "EXACT": {"impacts.sampling.sample_batch": 10.75},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.19,
        "messages.measurements.base_measurement": 0.34,
        "messages.measurements.carried": 0.14,
        "messages.contacts.write_contact_mode": 0.26,
    },
}
