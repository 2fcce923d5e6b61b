"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. RESTITUTION is what IMPACT needs besides, where the impact law has
restitution.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.4,
        "estimation.measure.measure": 2.0,
        "estimation.update.update": 20.4,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.friction_axes.prepare": 0.84,
        "impacts.increment.simultaneous": 3.36,
        "impacts.friction_axes.expand": 0.11,
        "impacts.friction_axes.add_impulse": 0.09,
        "impacts.residual.increment_residual": 0.34,
        "impacts.orientation.coherent": 1.07,
        "impacts.folding.fold": 1.11,
        "impacts.increment_modes.effort": 0.03,
        "impacts.sampling.sample_batch": 6.67,
        "impacts.friction_axes.expand_samples": 0.39,
        "impacts.coverage.near_count": 0.27,
        "impacts.fast_bounds.energy_bounds": 0.51,
        "impacts.fast_bounds.impulse_bounds": 0.48,
        "impacts.fast_bounds.tighten": 0.21,
    },
    "RESTITUTION": {"impacts.restitution.restitution_batch": 5.78},
}
