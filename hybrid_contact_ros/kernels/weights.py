"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. RESTITUTION is what IMPACT needs besides, where the impact law has
restitution.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    "MODE": {
        "mechanics.contact_rows.joint_limit_rows": 0.58,
        "mechanics.contact_rows.symmetric_copy": 0.1,
        "mechanics.contact_rows.contact_rows": 0.78,
        "mechanics.contact_space.contact_space": 0.52,
        "estimation.contact_quantities.contact_rates": 0.12,
        "estimation.contact_tracking.candidates": 0.11,
        "estimation.contact_tracking.slips": 0.24,
        "mechanics.contact_drift.balanced_drift": 0.24,
        "modes.forces.force_acceleration": 7.54,
        "estimation.contact_quantities.model_loads": 0.12,
        "estimation.contact_tracking.contact_statuses": 0.25,
        "estimation.contact_tracking.closed_scores": 0.09,
        "estimation.contact_quantities.contact_quantities": 0.17,
        "estimation.event_times.next_events": 1.42,
        "algebra.dense.cholesky_solve": 0.1,
        "algebra.dense.forward_solve": 0.09,
        "estimation.observed_forces.explaining_forces": 0.36,
        "estimation.observed_forces.world_forces": 0.1,
    },
    "SEQUENCE": {"estimation.rollout.rollout": 4.1},
    "STABILITY": {
        "stability.constraint.stability_flags": 2.7,
        "stability.pseudo_impulse.pseudo_impulse_flags": 0.97,
        "stability.constraint.normal_cosines": 0.12,
    },
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
