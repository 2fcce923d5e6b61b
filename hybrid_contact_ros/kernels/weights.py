"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.26,
        "estimation.measure.measure": 1.46,
        "estimation.update.update": 19.29,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.landing_chain.landing_chain": 3.05,
        "impacts.landing_law.landing_outcomes": 2.12,
        "impacts.landing_bounds.landing_bounds": 4.67,
        "impacts.increment_modes.effort": 0.03,
        "impacts.set_plan.plan_set": 7.7,
        "impacts.landing_law.contact_response": 0.28,
        "impacts.set_gathering.gather_set": 2.01,
        "impacts.invariant_basis.invariant_basis": 0.83,
        "impacts.set_extent.set_extent": 0.43,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.56,
        "sensitivity.cluster_words.cluster_words": 17.96,
        "sensitivity.cluster_moments.cluster_moments": 2.54,
        "mechanics.contact_gradient.contact_motion_gradient": 0.59,
        "mechanics.contact_gradient.contact_force_gradient": 0.25,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 12.7},
    "EXACT": {"impacts.sampling.sample_batch": 10.47},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.2,
        "messages.measurements.base_measurement": 0.34,
        "messages.measurements.carried": 0.14,
        "messages.contacts.write_contact_mode": 0.24,
    },
}
