"""What is told of a state beside its answer: slides that friction jams, contacts that cannot be where they are said to
be, efforts that explain nothing, sensors that are not believed, streams that come late, drives that do something else
than told. A live node tells its diagnostics, a replay its warnings."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Validity
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.answers import MODE_PLACES, blocks
from hybrid_contact_ros.estimation.effort_trust import BELIEVED, LimbWeight, limbs_sentence
from hybrid_contact_ros.estimation.stream_offsets import odometry_offset
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.kernels.estimation.update_steps import SLOW
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ModePrediction

# A contact that is deeper inside its plane than both of these is not on soft ground: something is configured wrongly.
_SUNK = 0.03  # m
_NOTABLE = 0.003  # m: ground that is further off its configured plane is told
_SUNK_GAPS = 4.0  # times activation.gap_off
# Nothing stays as high for as long without falling onto its planes.
_ALOFT, _FALL = 3.0, 1.5  # m, s
_OFFSETS_EVERY = 500  # states
_EFFORT, _FORCES = int(Validity.EFFORT), int(Validity.FORCES)  # slow to compute with


class Told(Protocol):
    """Who is told: :class:`~.monitor.Monitor` or :class:`Notes`."""

    def note(self, kind: str, sentence: str) -> None:
        """A state was odd: ``kind`` is a key of :data:`~.verdict.NOTES`, and the sentence says what exactly."""

    def ground(self, sentence: str) -> None:
        """Where the ground has been learned to be, in words."""

    def jammed(self) -> None:
        """Friction jammed a slide, which was taken to stick."""


class Notes:
    """The notes of a whole recording.

    Attributes:
        noted: as of :class:`~.verdict.Period`.
    """

    def __init__(self) -> None:
        self.noted: dict[str, tuple[int, str]] = {}

    def note(self, kind: str, sentence: str) -> None:
        """As of :class:`Told`."""
        self.noted[kind] = self.noted.get(kind, (0, ""))[0] + 1, sentence

    def ground(self, sentence: str) -> None:
        """Learned ground is no fault; result files have it of every state."""

    def jammed(self) -> None:
        """Jammed slides are no fault; result files have them of every state."""


class StateNotes:
    """Looks at each answer, and tells what is odd.

    Args:
        estimator: that answers. config: its configuration. monitor: is told.
    """

    def __init__(self, estimator: ContactEstimator, config: EstimatorConfig, monitor: Told) -> None:
        self.estimator, self.monitor = estimator, monitor
        model = estimator.model
        self._gaps, self._jams, self._weights, self._grounds = (
            MODE_PLACES[name].run(model.contacts) for name in ("gap", "jammed", "force_weight", "ground_offset")
        )
        self._planar = np.linalg.norm(model.contact_normals, axis=1) > 0.0
        self.tune(config)
        self._stamp_ns, self._gain = 0, config.observer.gain
        self._aloft_ns = 0  # stamp since which all contacts with planes are high above these
        self._number, self._offsets = 0, ""  # states answered; streams that come late

    def tune(self, config: EstimatorConfig) -> None:
        """Take over tolerances."""
        self._deepest = max(_SUNK, _SUNK_GAPS * config.activation.gap_off)

    def take(self, state: RobotState, mode: ModePrediction) -> None:
        """A state that has been answered with this mode."""
        self._note(mode)
        self._note_pace(mode)
        if state.contact_force is not None or state.contact_reading is not None:
            self._note_sensors()
        self._note_offsets(state)
        if state.command is not None and (names := self.estimator.disobeyed):
            said = f"{', '.join(names[:6])}; look at the gains of joint_command and input.command_stiffness, _damping"
            self.monitor.note("disobeyed", said)

    def _note_pace(self, mode: ModePrediction) -> None:
        """Note for the diagnostics that efforts are measured, but too seldom to tell the forces of a state."""
        before, self._stamp_ns = self._stamp_ns or mode.stamp_ns, mode.stamp_ns
        apart = 1e-9 * (mode.stamp_ns - before)
        if mode.validity & _EFFORT and apart * self._gain > SLOW:
            said = (
                f"{1e3 * apart:.0f} ms; efforts tell of the ground alone, publish more than {self._gain / SLOW:.0f} Hz"
            )
            self.monitor.note("apart", said)

    def _note_sensors(self) -> None:
        """Note for the diagnostics which foot sensors are not believed."""
        if self.estimator.sensors_doubted:
            doubted = [one.sentence for one in self.estimator.sensors() if one.weight < BELIEVED]
            self.monitor.note("contradicted", "; ".join(doubted))

    def _note_offsets(self, state: RobotState) -> None:
        """Note for the diagnostics which streams come late, or early."""
        if self._number % _OFFSETS_EVERY == 0:  # they change slowly
            found = [one for one in (odometry_offset(state.base_late), *self.estimator.offsets()) if one.notable]
            self._offsets = "; ".join(one.sentence for one in found)
        self._number += 1
        if self._offsets:
            self.monitor.note("offset", self._offsets)

    def _note(self, mode: ModePrediction) -> None:
        """Note for the diagnostics which slides friction jams, and which contacts cannot be where they are said to
        be."""
        floats, codes = blocks(mode)
        # Lists of few numbers are compared sooner than arrays.
        offsets = floats[self._grounds].tolist()
        lowest, highest = min(offsets, default=0.0), max(offsets, default=0.0)
        if max(highest, -lowest) > _NOTABLE:
            self._note_ground(offsets, lowest if -lowest > highest else highest)
        # Over the learned ground: of a robot that walks downhill, feet are far below the plane they began on.
        gaps = floats[self._gaps].tolist()
        if min(gaps, default=0.0) < -self._deepest and (sunk := self._sunk(mode)).any():
            contact = int(np.argmin(np.where(sunk, mode.gap, np.inf)))
            name = self.estimator.model.contact_names[contact]
            self.monitor.note(
                "sunk",
                f"{name} by {-mode.gap[contact]:.3f} m; compare the offset of its "
                "plane with the height of the odometry, and the contact's radius and points with the robot",
            )
        self._note_aloft(mode, max(gaps, default=0.0))
        if mode.validity & _EFFORT and min(floats[self._weights].tolist(), default=1.0) < BELIEVED:
            limbs = [limb for limb in self.estimator.limbs() if limb.weight < BELIEVED]
            if limbs:
                self.monitor.note("distrusted", _sentence(limbs))
            if held := self.estimator.held_up:
                self.monitor.note("held", f"a crane, a stand or a person; the limbs of {', '.join(held)} carry nothing")
        if mode.validity & _EFFORT and not mode.validity & _FORCES:
            contact = int(np.argmin(np.where(mode.force_valid, np.inf, mode.critical_friction)))
            self.monitor.note(
                "unsolved",
                f"{self.estimator.model.contact_names[contact]} has friction {mode.friction_coefficient[contact]:g}, "
                f"and its slide jams from {mode.critical_friction[contact]:.2f} on; configure a lower friction",
            )
        elif any(codes[self._jams].tobytes()):
            self.monitor.jammed()

    def _note_aloft(self, mode: ModePrediction, highest: float) -> None:
        """Note for the diagnostics that all contacts are where no robot stays for long."""
        lowest = float(mode.gap[self._planar].min()) if highest > _ALOFT and self._planar.any() else 0.0
        if lowest <= _ALOFT:
            self._aloft_ns = 0
            return
        if not 0 < self._aloft_ns <= mode.stamp_ns:  # it begins, or the clock was set back
            self._aloft_ns = mode.stamp_ns
        if mode.stamp_ns - self._aloft_ns > 1e9 * _FALL:
            self.monitor.note(
                "aloft",
                f"the lowest by {lowest:.3g} m; is the position of odom in m, and its height that over the planes?",
            )

    def _sunk(self, mode: ModePrediction) -> NDArray[np.bool_]:
        return self._planar & (mode.gap < -self._deepest)

    def _note_ground(self, offsets: list[float], furthest: float) -> None:
        name = self.estimator.model.contact_names[offsets.index(furthest)]
        side = "above" if furthest > 0.0 else "below"
        self.monitor.ground(f"{1e3 * abs(furthest):.0f} mm {side} the configured plane under {name}")


def _sentence(limbs: list[LimbWeight]) -> str:
    """Limbs whose efforts are not believed, those of one kind together."""
    groups = [[limb for limb in limbs if limb.turned == turned] for turned in (True, False)]
    return "; ".join(limbs_sentence(group) for group in groups if group)
