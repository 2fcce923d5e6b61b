"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.18,
        "estimation.measure.measure": 1.41,
        "estimation.update.update": 26.18,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.landing_chain.landing_chain": 3.29,
        "impacts.landing_law.landing_outcomes": 2.07,
        "impacts.landing_bounds.landing_bounds": 6.37,
        "impacts.increment_modes.effort": 0.03,
        "impacts.set_plan.plan_set": 7.5,
        "impacts.landing_law.contact_response": 0.35,
        "impacts.set_gathering.gather_set": 2.0,
        "impacts.invariant_basis.invariant_basis": 0.81,
        "impacts.set_extent.set_extent": 0.52,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.56,
        "sensitivity.cluster_words.cluster_words": 17.37,
        "sensitivity.cluster_moments.cluster_moments": 2.79,
        "mechanics.contact_gradient.contact_motion_gradient": 0.59,
        "mechanics.contact_gradient.contact_force_gradient": 0.25,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 10.98},
    "EXACT": {"impacts.sampling.sample_batch": 9.51},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.17,
        "messages.measurements.base_measurement": 0.3,
        "messages.measurements.carried": 0.12,
        "messages.contacts.write_contact_mode": 0.23,
    },
}
