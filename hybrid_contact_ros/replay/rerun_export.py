"""A replay as a recording of the Rerun viewer (.rrd): the robot, its contacts, forces and sets, and plots.

    world/robot                 joints as points, and lines between them
    world/contacts              contact points, coloured by status as in RViz
    world/forces/model          arrows, environment on robot; /observer: those of the momentum observer
    set/outcomes, nominal, v_minus   linear velocity of the base (world axes), or the first three joint rates of a
                                fixed base, in a space of its own: 1 m there is 1 m/s
    contact/NAME/…              probability, gap, normal force, weight of the efforts, time to the next event, closed
    events                      what the contact mode showed, as text

Timelines: ``stamp`` (of the measurement) and ``time`` (since the first state). rerun-sdk is not among the dependencies
of this package: it is larger than most of them together, and few need it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Literal

import numpy as np
import pinocchio
from numpy.typing import NDArray

from hybrid_contact_ros.bags.folder import check_folder
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction, Prediction

Array = NDArray[np.float64]

_COLOURS = np.array([[128, 128, 128], [77, 153, 255], [51, 204, 77], [255, 153, 26]], np.uint8)  # by ContactStatus
_FORCE_SCALE = 0.002  # m of an arrow per N
_SPACE_NS = 10_000_000  # between two pictures of the robot: the viewer shows no more, plots have every state
_KEPT = 2000  # states whose numbers are sent at once
_CURVES = ("probability", "gap", "normal_force", "force_weight", "time_to_event", "closed")


def check_rerun(path: str | Path, force: bool) -> Path:
    """Check that such a file can be written, before any work is done for it.

    Raises:
        BagError: rerun-sdk is missing, the name does not end in .rrd, the folder is not there, or the file is.
    """
    path = Path(path)
    if find_spec("rerun") is None:
        raise BagError("a file for Rerun needs rerun-sdk, which is not installed here: pip install rerun-sdk")
    if path.suffix != ".rrd":
        raise BagError(f"{path}: the name of a file for Rerun ends in .rrd")
    if path.exists() and not force:
        raise BagError(f"{path} exists already: name another file, or replace it (--force)")
    if path.is_dir():
        raise BagError(f"{path} cannot be written: it is a folder")
    check_folder(path)
    return path


class RerunExport:
    """Writes what it is given into a file, which appears at the end of the block, if no error ends it.

    Args:
        path: as of :func:`check_rerun`. name: of the recording in the viewer.
    """

    def __init__(self, path: Path, model: RigidBodyModel, name: str) -> None:
        import rerun

        self._rr = rerun
        self._stream = rerun.RecordingStream("hybrid_contact_ros", recording_id=name)
        self._path, self._part = path, path.with_name(f".{path.name}.part")
        self._stream.save(str(self._part))
        self._model, self._names = model, model.contact_names
        self._pinocchio = model.pinocchio_model
        self._data = self._pinocchio.createData()  # of its own: the estimator's must not be touched
        self._first = self._drawn = 0
        self._stamps: list[int] = []
        self._rows: list[Array] = []
        self._stream.log("world", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)

    def beside(
        self, other: Callable[[RobotState, Prediction], None] | None
    ) -> Callable[[RobotState, Prediction], None]:
        """A callback of ``replay_bag`` that writes each state, and then calls the other one."""

        def both(state: RobotState, prediction: Prediction) -> None:
            self.add(state, prediction)
            if other is not None:
                other(state, prediction)

        return both

    def add(self, state: RobotState, prediction: Prediction) -> None:
        """One state and what was predicted of it."""
        mode = prediction.mode
        self._first = self._first or state.stamp_ns
        self._stamps.append(state.stamp_ns)
        force = np.where(
            mode.force_valid,
            (mode.force_model * mode.normal).sum(axis=1),
            (mode.force_estimate * mode.normal).sum(axis=1),
        )
        self._rows.append(
            np.column_stack(
                (mode.probability, mode.gap, force, mode.force_weight, mode.time_to_event, mode.closed.astype(float))
            )
        )
        if len(self._stamps) >= _KEPT:
            self._send()
        drawn = not self._drawn or state.stamp_ns - self._drawn >= _SPACE_NS
        detected = [event for event in prediction.events if event.detected]
        if not drawn and not detected and prediction.impact is None:
            return
        self._at(state.stamp_ns)
        if drawn:
            self._drawn = state.stamp_ns
            self._robot(state)
            self._contacts(mode)
        if prediction.impact is not None:
            self._set(state, prediction.impact)
        for event in detected:
            text = f"{EventKind(event.kind).name.lower()} of {self._names[event.contact]}"
            self._stream.log("events", self._rr.TextLog(text))

    def __enter__(self) -> RerunExport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        try:
            if kind is None:
                self._send()
            self._stream.flush()
            self._stream.disconnect()
            if kind is None:
                self._part.replace(self._path)
        finally:
            self._part.unlink(missing_ok=True)
        return False

    def _at(self, stamp_ns: int) -> None:
        self._stream.set_time("stamp", timestamp=np.datetime64(stamp_ns, "ns"))
        self._stream.set_time("time", duration=np.timedelta64(stamp_ns - self._first, "ns"))

    def _robot(self, state: RobotState) -> None:
        pinocchio.forwardKinematics(self._pinocchio, self._data, np.asarray(state.q))
        # Joint 0 is the world, of which a floating base has no line.
        first = 2 if self._model.floating_base else 1
        places = np.array([placement.translation for placement in self._data.oMi])
        parents = list(self._pinocchio.parents)
        lines = [np.stack((places[parents[i]], places[i])) for i in range(first, len(places))]
        rr = self._rr
        self._stream.log(
            "world/robot/joints",
            rr.Points3D(places[1:], radii=0.01, labels=list(self._pinocchio.names)[1:], show_labels=False),
        )
        if lines:
            self._stream.log("world/robot/links", rr.LineStrips3D(lines, radii=0.004))

    def _contacts(self, mode: ModePrediction) -> None:
        rr = self._rr
        there = np.isfinite(mode.position).all(axis=1) & (
            np.abs(mode.normal).sum(axis=1) > 0.0
        )  # joint limits have none
        colours = _COLOURS[np.minimum(mode.status, len(_COLOURS) - 1)]
        labels = [name for name, yes in zip(self._names, there, strict=True) if yes]
        self._stream.log(
            "world/contacts",
            rr.Points3D(mode.position[there], colors=colours[there], radii=0.015, labels=labels, show_labels=False),
        )
        for name, forces, valid in (
            ("model", mode.force_model, mode.force_valid),
            ("observer", mode.force_estimate, np.isfinite(mode.force_estimate).all(axis=1)),
        ):
            shown = there & valid
            arrows = rr.Arrows3D(origins=mode.position[shown], vectors=_FORCE_SCALE * forces[shown])
            self._stream.log(f"world/forces/{name}", arrows)

    def _set(self, state: RobotState, impact: ImpactPrediction) -> None:
        rr = self._rr
        turn = np.eye(3)
        if self._model.floating_base:
            turn = pinocchio.Quaternion(np.asarray(state.q[3:7])).toRotationMatrix()
        for name, velocities, colour, size in (
            ("outcomes", impact.velocities, (77, 153, 255), 0.004),
            ("nominal", impact.nominal[None], (51, 204, 77), 0.01),
            ("v_minus", impact.velocity_minus[None], (255, 80, 80), 0.01),
        ):
            points = np.zeros((len(velocities), 3))
            width = min(3, velocities.shape[1])
            points[:, :width] = velocities[:, :width]
            self._stream.log(f"set/{name}", rr.Points3D(points @ turn.T, colors=[colour], radii=size))

    def _send(self) -> None:
        """Send the curves of the states that are kept."""
        if not self._stamps:
            return
        rr, stamps, rows = self._rr, np.array(self._stamps, np.int64), np.stack(self._rows)
        self._stamps, self._rows = [], []
        for i, name in enumerate(self._names):
            for k, curve in enumerate(_CURVES):
                known = np.isfinite(rows[:, i, k])
                if not known.any():
                    continue
                index = [
                    rr.TimeColumn("stamp", timestamp=stamps[known].astype("datetime64[ns]")),
                    rr.TimeColumn("time", duration=(stamps[known] - self._first).astype("timedelta64[ns]")),
                ]
                columns = rr.Scalars.columns(scalars=rows[known, i, k])
                self._stream.send_columns(f"contact/{name}/{curve}", indexes=index, columns=columns)
