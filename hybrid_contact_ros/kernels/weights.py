"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.22,
        "estimation.measure.measure": 1.49,
        "estimation.update.update": 17.26,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.increment_modes.effort": 0.06,
        "impacts.set_plan.plan_set": 7.5,
        "impacts.set_gathering.gather_set": 2.03,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 10.36},
    "EXACT": {"impacts.sampling.sample_batch": 9.48},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.19,
        "messages.measurements.base_measurement": 0.35,
        "messages.measurements.carried": 0.13,
        "messages.contacts.write_contact_mode": 0.24,
    },
}
