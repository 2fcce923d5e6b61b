"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. RESTITUTION is what IMPACT needs besides, where the impact law has
restitution.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_problem.contact_problem": 1.41,
        "estimation.measure.measure": 2.61,
        "estimation.update.update": 17.25,
    },
    "SEQUENCE": {},
    "STABILITY": {},
    "IMPACT": {
        "impacts.friction_axes.prepare": 1.03,
        "impacts.increment.simultaneous": 3.17,
        "impacts.friction_axes.expand": 0.11,
        "impacts.friction_axes.add_impulse": 0.08,
        "impacts.residual.increment_residual": 0.33,
        "impacts.orientation.coherent": 0.93,
        "impacts.folding.fold": 0.87,
        "impacts.increment_modes.effort": 0.03,
        "impacts.sampling.sample_batch": 8.97,
        "impacts.friction_axes.expand_samples": 0.28,
        "impacts.coverage.near_count": 0.63,
        "impacts.fast_bounds.energy_bounds": 0.37,
        "impacts.fast_bounds.impulse_bounds": 0.34,
        "impacts.fast_bounds.tighten": 0.15,
    },
    "RESTITUTION": {"impacts.restitution.restitution_batch": 7.83},
}
