"""What one update of the estimator knows of the contacts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(slots=True, eq=False, kw_only=True)
class Moment:
    """One state on its way through an update: each step reads what the steps before it wrote, and writes its own
    fields.

    Arrays run along the m contacts and are of this update alone, but for ``modes``. A field that no step has written
    yet raises AttributeError.

    Attributes:
        state: with float64 arrays. problem: its contact problem. dt: s since the state before; 0 for the first.
        trusted: whether the actuation is known (a measured effort, or a single body, which has none).
        modes: workspace of the force-acceleration solve. From the mode's solve until the next update it holds G, b,
            slip directions and statuses of this state.
        position: (m, 3), m, world frame. velocity: u = J v (m, 3), m/s, normal and two tangents.
        gap_velocity: φ̇ (m,), m/s. tangential_velocity: (m, 3), m/s, world frame. slip_speed: its norm (m,), m/s.
        gap_sigma (m,), m, velocity_sigma (m,), m/s: standard deviations of φ and φ̇.
        touching: (m,) uint8, contacts that the mode was solved for. code, residual: of that solve.
        load: (m,), N, as of :func:`~hybrid_contact_ros.kernels.estimation.contact_quantities.model_loads`.
        closed, slipping, status: (m,) uint8. doubted: (m,) bool, whether there is evidence against the status before.
            probability: (m,), score that the contact is closed.
        forces: λ (m, 3), N, zero where not ``trusted``. accelerations: of the contacts (m, 3), m/s². acceleration:
            v̇ (nv,).
        force_model: (m, 3), N, world frame. friction_margin: μ λ_n − ‖λ_t‖ (m,), N.
            slip_acceleration: d‖u_t‖/dt (m,), m/s².
        next_event: (m,) uint8, EventKind. backed: (m,) uint8, the same without touchdowns that only the rhythm of the
            gait foretells. event_times: (m, 3), time, earliest, latest, s; NaN without an event.
    """

    state: RobotState
    problem: ContactProblem
    trusted: bool
    dt: float
    modes: ModeWorkspace
    position: Array
    velocity: Array
    gap_velocity: Array
    tangential_velocity: Array
    slip_speed: Array
    gap_sigma: Array
    velocity_sigma: Array

    touching: Codes = field(init=False)
    code: int = field(init=False)
    residual: float = field(init=False)
    load: Array = field(init=False)

    closed: Codes = field(init=False)
    slipping: Codes = field(init=False)
    status: Codes = field(init=False)
    doubted: NDArray[np.bool_] = field(init=False)
    probability: Array = field(init=False)

    forces: Array = field(init=False)
    accelerations: Array = field(init=False)
    acceleration: Array = field(init=False)
    force_model: Array = field(init=False)
    friction_margin: Array = field(init=False)
    slip_acceleration: Array = field(init=False)

    next_event: Codes = field(init=False)
    backed: Codes = field(init=False)
    event_times: Array = field(init=False)

    @property
    def stamp_ns(self) -> int:
        return self.state.stamp_ns

    @property
    def solved(self) -> bool:
        """Whether the forces are those of a contact mode that was found, with known actuation."""
        return self.trusted and self.code == Status.SOLVED
