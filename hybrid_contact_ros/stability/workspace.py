"""The stability flags of every message: arrays that are made once, and three kernel calls for a state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.modes.records import mode_scratch
from hybrid_contact_ros.kernels.stability.constraint import FLAGS, PSEUDO_IMPULSE, normal_cosines, stability_flags
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags
from hybrid_contact_ros.kernels.stability.records import ImpactScratch, TrialScratch
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import REAL_TIME_STEPS, ModeWorkspace

Array = NDArray[np.float64]

TOLERANCE = 1e-7
"""Of the scaled residual of the modes with a contact released; an answer further off leaves the flag UNDECIDED."""


class StabilityWorkspace:
    """Scratch and results of the stability flags for m contacts with d tangents.

    The results are views: the next call overwrites them. One workspace serves one thread.

    Args:
        contacts, tangents: m and d. steps: of splitting at most, where a mode is not found at once; 0 bounds the work,
            and what it does not reach is CUT.

    Attributes, written by :meth:`evaluate`:
        flags: (6, m) uint8, values of :class:`~hybrid_contact_ros.codes.Flag`. margins: (6, m). The rows of both are
            constraint stability with the held contact's normal force (N); bounded-time stability with the released
            gap's acceleration (m/s²); Zeno with the end of the chatter (s from now); grazing with the touchdown speed
            (m/s); friction with its margin (N); the pseudo-impulse with its size (N s).
        cosines: (m, m) between the constraints, Pace (14).
    """

    def __init__(self, contacts: int, tangents: int, steps: int = REAL_TIME_STEPS) -> None:
        m, d = contacts, tangents
        self._steps = steps
        n = m * (1 + d)
        self.contacts, self.tangents = m, d
        self.flags = np.zeros((FLAGS, m), dtype=np.uint8)
        self.margins = np.zeros((FLAGS, m))
        self.cosines = np.zeros((m, m))
        self._trial = TrialScratch(
            *mode_scratch(n),
            scope=np.zeros(m, dtype=np.uint8),
            glide=np.zeros(m, dtype=np.uint8),
            direction=np.zeros((m, d)),
            state=np.zeros(m, dtype=np.int64),
            trial_forces=np.zeros(n),
            trial_accelerations=np.zeros(n),
        )
        self._impact = ImpactScratch(
            A=self._trial.A,
            work=self._trial.work,
            order=self._trial.order,
            glide=self._trial.glide,
            direction=self._trial.direction,
            state=self._trial.state,
            trial=self._trial.trial_forces,
            at_impact=np.zeros(n),
            unused=self._trial.trial_accelerations,
        )

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

        Args:
            problem: the state's. velocity: J v (m, 1 + d), normal first.
            touching: (m,) uint8, what the mode was solved with. modes: as its ``solve`` of this state left it.
            force_tolerance (N), acceleration_tolerance (m/s²), grazing_speed (m/s): dead bands.
            horizon, duration: s, of the pseudo-impulse
                (:func:`~hybrid_contact_ros.kernels.stability.pseudo_impulse.pseudo_impulse_flags`).
        """
        forces, accelerations = modes.forces.reshape(-1), modes.contact_acceleration.reshape(-1)
        stability_flags(
            # settings:
            self.tangents,
            self._steps,
            force_tolerance,
            acceleration_tolerance,
            grazing_speed,
            TOLERANCE,
            # problem:
            modes.delassus,
            modes.free,
            problem.friction,
            problem.restitution,
            problem.gap,
            velocity[:, 0].copy(),
            # solved mode:
            touching,
            modes.moving,
            modes.jammed,
            modes.slip_direction,
            modes.contact_status,
            forces,
            accelerations,
            # scratch and out:
            *self._trial,
            self.flags,
            self.margins,
        )
        pseudo_impulse_flags(
            # settings:
            self.tangents,
            horizon,
            duration,
            force_tolerance,
            # problem:
            modes.delassus,
            modes.free,
            problem.friction,
            problem.gap,
            velocity.reshape(-1),
            # solved mode:
            modes.moving,
            modes.slip_direction,
            modes.contact_status,
            forces,
            accelerations,
            # scratch and out:
            *self._impact,
            self.flags[PSEUDO_IMPULSE],
            self.margins[PSEUDO_IMPULSE],
        )
        normal_cosines(self.tangents, modes.delassus, self.cosines)
