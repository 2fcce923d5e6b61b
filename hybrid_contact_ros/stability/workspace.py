"""The stability flags of every message: arrays made once, one kernel call a state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.modes.splitting import ROWS
from hybrid_contact_ros.kernels.stability.constraint import normal_cosines, stability_flags
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import STEPS, ModeWorkspace

Array = NDArray[np.float64]

TOLERANCE = 1e-7


class StabilityWorkspace:
    """Scratch and results of the stability flags for m contacts with d tangents.

    The results are views: the next call overwrites them. One workspace serves one thread.

    Attributes, written by :meth:`evaluate`:
        flags: (6, m) uint8, values of prediction.Flag. margins: (6, m). Rows of both: constraint stability and the
            held contact's normal force (N); bounded-time stability and the released gap's acceleration (m/s²); Zeno
            and the end of chatter (s); grazing and the touchdown speed (m/s); friction and its margin (N); the
            pseudo-impulse and its size (N s).
        cosines: (m, m) between the constraints (P 14).
    """

    def __init__(self, contacts: int, tangents: int, steps: int = STEPS) -> None:
        m, d = contacts, tangents
        self._steps = steps
        n = m * (1 + d)
        self.contacts, self.tangents = m, d
        self.flags = np.zeros((6, m), dtype=np.uint8)
        self.margins = np.zeros((6, m))
        self.cosines = np.zeros((m, m))
        self._matrix = np.zeros((2 * n + ROWS, n))
        self._work = np.zeros((2, n))
        self._order = np.zeros(2 * n, dtype=np.int64)
        self._scope = np.zeros(m, dtype=np.uint8)
        self._glide = np.zeros(m, dtype=np.uint8)
        self._direction = np.zeros((m, d))
        self._state = np.zeros(m, dtype=np.int64)
        self._forces = np.zeros(n)
        self._accelerations = np.zeros(n)
        self._at_impact = np.zeros(n)

    def evaluate(
        self,
        problem: ContactProblem,
        velocity: Array,
        touching: NDArray[np.uint8],
        modes: ModeWorkspace,
        force_tolerance: float,
        acceleration_tolerance: float,
        grazing_speed: float,
        horizon: float,
        duration: float,
    ) -> None:
        """Decide all flags of a state whose mode has been solved.

        ``modes`` is as its ``solve`` of this state left it; ``touching`` (m,) uint8 is what that solve was given,
        ``velocity`` (m, 1 + d) = J v, normal first. Tolerances in N, m/s² and m/s;
        ``horizon`` and ``duration`` in s, see :mod:`~hybrid_contact_ros.kernels.stability.pseudo_impulse`.
        """
        stability_flags(
            self.tangents,
            self._steps,
            force_tolerance,
            acceleration_tolerance,
            grazing_speed,
            TOLERANCE,
            modes.delassus,
            modes.free,
            problem.friction,
            problem.restitution,
            problem.gap,
            velocity[:, 0].copy(),
            touching,
            modes.moving,
            modes.jammed,
            modes.slip_direction,
            modes.contact_status,
            modes.forces.reshape(-1),
            modes.contact_acceleration.reshape(-1),
            self._matrix,
            self._work,
            self._order,
            self._scope,
            self._glide,
            self._direction,
            self._state,
            self._forces,
            self._accelerations,
            self.flags,
            self.margins,
        )
        pseudo_impulse_flags(
            self.tangents,
            horizon,
            duration,
            force_tolerance,
            modes.delassus,
            modes.free,
            problem.friction,
            problem.gap,
            velocity.reshape(-1),
            modes.moving,
            modes.slip_direction,
            modes.contact_status,
            modes.forces.reshape(-1),
            modes.contact_acceleration.reshape(-1),
            self._matrix,
            self._work,
            self._order,
            self._glide,
            self._direction,
            self._state,
            self._forces,
            self._at_impact,
            self._accelerations,
            self.flags[5],
            self.margins[5],
        )
        normal_cosines(self.tangents, modes.delassus, self.cosines)
