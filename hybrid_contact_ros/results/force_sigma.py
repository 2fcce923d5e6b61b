"""How far the observed normal forces may be off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def force_sigma(stamps_ns: NDArray[np.int64], force: Array, noise: Array, lag: float) -> Array:
    """The standard deviation of observed normal forces along n states of m contacts, N.

    The momentum observer lags ``lag`` s behind the forces, and is off by that times the rate at which they change; on
    top comes what noise of the motion adds. Both are estimates: docs/reports.md has how often ± 2 of them held true
    forces.

    Args:
        stamps_ns: (n,). force: (n, m) N, NaN where none was observed.
        noise: (n, m) N, of :attr:`~hybrid_contact_ros.estimator.ContactEstimator.force_noise`.
        lag: s, the observer's 1/gain.

    Returns:
        (n, m); NaN where the force, or that of the state before, is, and where time does not go on.

    Example:
        >>> force_sigma(np.array([0, 1_000_000]), np.array([[50.0], [51.0]]), np.array([[2.0], [2.0]]), 0.01)
        array([[        nan],
               [10.19803903]])
    """
    sigma = np.full(force.shape, np.nan)
    step = 1e-9 * np.diff(stamps_ns)[:, None]
    rate = np.divide(np.diff(force, axis=0), step, out=np.full((len(step), force.shape[1]), np.nan), where=step > 0.0)
    sigma[1:] = np.hypot(noise[1:], lag * rate)
    return sigma
