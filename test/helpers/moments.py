"""Moments, as the steps of the estimator's update pass them on, for tests of a single step."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, EventKind, Status
from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace


def moment_of(problem: ContactProblem, modes: ModeWorkspace | None = None, **values: Any) -> Moment:
    """A moment of this problem in which nothing moves or is foretold, but for the fields in ``values``.

    ``stamp_ns`` is that of its state; everything else is a field of :class:`Moment`.
    """
    m, width = problem.jacobian_drift.shape
    activation = ActivationConfig()
    state = RobotState(values.pop("stamp_ns", 0), np.zeros(problem.nv), problem.velocity, np.zeros(problem.nv))
    fields: dict[str, Any] = {
        "trusted": True,
        "dt": 1e-3,
        "position": np.zeros((m, 3)),
        "velocity": (problem.jacobian() @ problem.velocity).reshape(m, width),
        "gap_velocity": problem.normal_jacobian @ problem.velocity,
        "tangential_velocity": np.zeros((m, 3)),
        "slip_speed": np.zeros(m),
        "gap_sigma": np.full(m, activation.gap_sigma),
        "velocity_sigma": np.full(m, activation.velocity_sigma),
        "touching": np.zeros(m, np.uint8),
        "code": int(Status.SOLVED),
        "residual": 0.0,
        "load": np.zeros(m),
        "closed": np.zeros(m, np.uint8),
        "slipping": np.zeros(m, np.uint8),
        "status": np.full(m, ContactStatus.OPEN, np.uint8),
        "doubted": np.zeros(m, bool),
        "probability": np.zeros(m),
        "forces": np.zeros((m, width)),
        "accelerations": np.zeros((m, width)),
        "acceleration": np.zeros(problem.nv),
        "friction_margin": np.zeros(m),
        "slip_acceleration": np.zeros(m),
        "next_event": np.full(m, EventKind.NONE, np.uint8),
        "backed": np.full(m, EventKind.NONE, np.uint8),
        "event_times": np.full((m, 3), np.nan),
    }
    fields.update(values)
    needed = ("trusted", "dt", "position", "velocity", "gap_velocity", "tangential_velocity", "slip_speed")
    needed += ("gap_sigma", "velocity_sigma")
    workspace = modes or ModeWorkspace(problem.nv, m, width - 1)
    moment = Moment(state=state, problem=problem, modes=workspace, **{name: fields.pop(name) for name in needed})
    for name, value in fields.items():
        setattr(moment, name, value)
    return moment


def one_contact(gap: float = 0.0, friction: float = 0.7) -> ContactProblem:
    """A unit mass over the ground, one contact in space."""
    rows = np.eye(3)
    return ContactProblem(np.eye(3), np.zeros(3), rows[2:], rows[None, :2], [friction], None, [gap])
