"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.29,
        "estimation.measure.measure": 1.67,
        "estimation.update.update": 19.16,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.increment_modes.effort": 0.07,
        "impacts.set_plan.plan_set": 7.99,
        "impacts.set_gathering.gather_set": 2.15,
    },
    "SENSITIVITY": {
        "sensitivity.corner.corner_step": 0.69,
        "sensitivity.cluster_words.cluster_words": 18.57,
        "sensitivity.cluster_moments.cluster_moments": 2.31,
        "mechanics.contact_gradient.contact_motion_gradient": 0.59,
        "mechanics.contact_gradient.contact_force_gradient": 0.26,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 12.75},
    "EXACT": {"impacts.sampling.sample_batch": 10.74},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.18,
        "messages.measurements.base_measurement": 0.32,
        "messages.measurements.carried": 0.14,
        "messages.contacts.write_contact_mode": 0.25,
    },
}
