"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.97,
        "estimation.measure.measure": 2.13,
        "estimation.update.update": 18.94,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.friction_axes.prepare": 0.96,
        "impacts.increment.simultaneous": 3.0,
        "impacts.friction_axes.expand": 0.11,
        "impacts.friction_axes.add_impulse": 0.08,
        "impacts.residual.increment_residual": 0.33,
        "impacts.orientation.coherent": 0.81,
        "impacts.folding.fold": 0.84,
        "impacts.increment_modes.effort": 0.03,
        "impacts.friction_axes.expand_samples": 0.29,
        "impacts.coverage.near_count": 0.62,
        "impacts.fast_bounds.energy_bounds": 0.38,
        "impacts.fast_bounds.impulse_bounds": 0.35,
        "impacts.fast_bounds.tighten": 0.15,
    },
    "MATERIAL": {"impacts.restitution.restitution_batch": 9.1},
    "EXACT": {"impacts.sampling.sample_batch": 9.86},
    "MESSAGES": {
        "messages.measurements.joint_state": 0.24,
        "messages.measurements.base_measurement": 0.36,
        "messages.measurements.carried": 0.14,
        "messages.contacts.write_contact_mode": 0.32,
    },
}
