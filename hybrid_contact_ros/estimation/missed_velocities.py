"""What extrapolations missed in situations like one: the bias of v⁻, its covariance, contacts that slid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.small_systems import factor_of

Array = NDArray[np.float64]

_FEWEST = 3  # alike landings that tell something: a gait that begins is not yet like itself
_OUTLIER = 2.0  # medians: errors of more are taken to be as large as that
_SURELY = 2.0  # standard deviations of what noise makes of a median: less is no bias
_PRIOR = 1.0  # landings that the spread counts for that is foreseen without errors
_NO_BIAS = 0.3  # landings that it counts for that nothing is missed


class Missed(NamedTuple):
    """What extrapolations missed in situations like this one."""

    errors: Array  # (n, nv), n ≥ 1

    @property
    def settled(self) -> bool:
        """Whether so many landings tell of a bias; a gait that begins is not yet like itself."""
        return len(self.errors) >= _FEWEST

    def middle(self, sigma: Array) -> Array:
        """The bias (nv,): median, less what noise of sigma (nv,) in velocities would make of it; none of too few."""
        n = len(self.errors)
        if not self.settled:
            return np.zeros(sigma.size)
        found = np.median(self.errors, axis=0) * (n / (_NO_BIAS + n))
        return np.where(np.abs(found) > _SURELY * np.sqrt(2.0 / n) * sigma, found, 0.0)

    def scatter(self, mass: Array) -> float:
        """How far errors are from their median, in the kinetic norm of M: their median."""
        apart = self.errors - np.median(self.errors, axis=0) if self.settled else self.errors
        return float(np.median(np.linalg.norm(apart @ factor_of(mass), axis=1)))

    def slides(self, rows: Array, noise: Array, slowest: float) -> NDArray[np.bool_]:
        """Which contacts (k,) moved along the ground in the median, faster than ``slowest`` (m/s) and than noise would
        make it, where they were foreseen not to. rows: J (3 k, nv). noise: covariance of the measured v."""
        n, r = len(self.errors), len(rows)
        if not self.settled:
            return np.zeros(r // 3, dtype=np.bool_)
        along = np.median(self.errors @ rows.T, axis=0).reshape(-1, 3)[:, 1:]
        sigma = np.sqrt(2.0 / n * np.einsum("ij,ji->i", rows @ noise, rows.T)).reshape(-1, 3)[:, 1:]
        return np.asarray(np.hypot(*along.T) > slowest + _SURELY * np.hypot(*sigma.T))

    def covariance(self, foreseen: Array, noise: Array, mass: Array) -> Array:
        """Of v⁻ (nv, nv), when it is moved by the bias: of a Gaussian whose covariance is unknown, with the one that
        was foreseen as that of ``_PRIOR`` landings.

        Errors are told by noisy velocities, twice: a scatter that this alone would make is taken for none.

        Args:
            foreseen: covariance of v⁻ without these errors, noise in it. noise: covariance of the measured v.
            mass: M, of the kinetic norm in which errors are outliers.
        """
        errors, n = self.errors, len(self.errors)
        sigma = np.sqrt(np.diag(noise))
        bias, middle = self.middle(sigma), np.median(errors, axis=0)
        apart = errors - middle
        size = np.linalg.norm(apart @ factor_of(mass), axis=1)
        apart *= np.minimum(1.0, _OUTLIER * np.median(size) / np.maximum(size, 1e-12))[:, None]
        apart += middle - bias
        scatter = apart.T @ apart + _NO_BIAS * np.outer(bias, bias)
        if sigma.any():
            unit = np.sqrt(2.0 * n) * sigma + 1e-9
            much, axes = np.linalg.eigh(scatter / unit[:, None] / unit)
            least = (1.0 + np.sqrt(sigma.size / n)) ** 2  # noise alone stays below it: Marchenko and Pastur
            axes *= unit[:, None]
            scatter = (axes * np.where(much > least, much - 1.0, 0.0)) @ axes.T
        known = (_PRIOR * (foreseen - noise) + scatter) / (_PRIOR + n)
        return np.asarray(noise + known * (1.0 + 1.0 / (_NO_BIAS + n)))
