"""Contact forces from what moves: the generalised-momentum observer (De Luca, Mattone 2003; Bledt et al. 2018)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.observed_forces import explaining_forces

Array = NDArray[np.float64]

# s: the observer does not integrate over a pause between states that is longer; it starts anew.
LONGEST_PAUSE = 0.1
# The observer has settled after this many of its time constants.
_SETTLED = 5.0
# Regularisation, relative to the mean of the diagonal of G: of the forces that redundant contacts leave open, the least
# are chosen.
_REGULARISATION = 1e-8


class MomentumObserver:
    """Residual r ≈ Jᵀλ, the first-order low-pass with bandwidth ``gain`` (1/s) of the generalised external force.

    r = K (p − ∫ (Sᵀτ + Cᵀv − g + r) dt), with p = M v and K = ``gain``. The integral is taken by the trapezoidal rule
    in the known terms and implicitly in r, so that it is stable at any rate of the states. The observer needs efforts
    and, for a floating base, the measured velocity of the base. Its limits: forces that are not contact forces (a push
    on the trunk, friction in the joints, a payload) are in r all the same, and noise of v
    comes through amplified by K M.

    Attributes:
        residual: r (nv,), N or N m. settled: whether the observer has run long enough since the last reset.

    A mass of 2 kg that is held at rest against its weight:

    >>> observer, weight = MomentumObserver(1, gain=100.0), np.array([-2 * 9.81])
    >>> for _ in range(1000):
    ...     force = observer.update(1e-3, momentum=np.zeros(1), rate=weight, effort=np.zeros(1))
    >>> print(observer.settled, force.round(2))
    True [19.62]
    """

    def __init__(self, nv: int, gain: float) -> None:
        self.gain = gain
        self.residual = np.zeros(nv)
        self._integral = np.zeros(nv)
        self._known = np.zeros(nv)
        self._age = -1.0

    @property
    def settled(self) -> bool:
        return self.gain > 0.0 and self._age * self.gain >= _SETTLED

    def reset(self) -> None:
        """Start anew: the next state defines p(0), with r = 0."""
        self._age = -1.0
        self.residual[:] = 0.0

    def update(self, dt: float, momentum: Array, rate: Array, effort: Array) -> Array:
        """Take one state, ``dt`` s after the last; start anew where dt is not within [0, ``LONGEST_PAUSE``].

        A second state of the same time changes nothing.

        Args:
            momentum: p (nv,). rate: Cᵀv − g (nv,). effort: Sᵀτ (nv,).

        Returns:
            r (nv,), a view that the next update overwrites.
        """
        if dt == 0.0 and self._age >= 0.0:
            return self.residual
        known = effort + rate
        if self._age < 0.0 or not 0.0 < dt <= LONGEST_PAUSE:
            self._integral[:] = momentum
            self.residual[:] = 0.0
            self._age = 0.0
        else:
            self._integral += 0.5 * dt * (self._known + known)
            self.residual[:] = self.gain * (momentum - self._integral) / (1.0 + self.gain * dt)
            self._integral += dt * self.residual
            self._age += dt
        self._known[:] = known
        return self.residual


def contact_forces(delassus: Array, response: Array, width: int, chosen: NDArray[np.intp]) -> Array:
    """Forces at the chosen contacts that explain an external generalised force best: J_cᵀ f ≈ r, least squares in M⁻¹.

    The normal equations are G_cc f = J_c M⁻¹ r; all of r is laid to the chosen contacts. With redundant contacts, the
    parts of f that change no motion (internal forces) are undetermined, and the least ones are returned.

    Args:
        delassus: G (m width, m width), 1/kg. response: J M⁻¹ r (m width,), m/s². width: rows of a contact, 1 + d.
        chosen: indices of the contacts that r is laid to.

    Returns:
        (m, width), N, normal first; NaN for the contacts that are not chosen.
    """
    force = np.full((response.shape[0] // width, width), np.nan)
    if chosen.size:
        n = chosen.size * width
        explaining_forces(width, _REGULARISATION, delassus, response, chosen, np.empty((n, n)), np.empty(n), force)
    return force
