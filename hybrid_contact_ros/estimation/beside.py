"""Foot sensors, accelerations and commanded contacts of a state, as the filter reads them; and what is learned of
them, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config_sensors import SensorsConfig
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.sensor_likelihoods import (
    FEET,
    FORCE,
    READING,
    UNIT,
    WANTED,
    SensorSettings,
    forget,
    sensor_given,
    sensor_memory,
    silence,
)
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.sensors import ContactForces, ContactReadings
from hybrid_contact_ros.mechanics.state import RobotState

_KINDS = ("force sensor", "foot sensor")


@dataclass(frozen=True, slots=True)
class SensorWeight:
    """How far the sensor of one contact is believed.

    Attributes:
        contact: name. kind: "force sensor" or "foot sensor". weight: from 1 to 0.
    """

    contact: str
    kind: str
    weight: float

    @property
    def sentence(self) -> str:
        """For diagnostics."""
        return f"the {self.kind} of {self.contact} contradicts its foot's motion: weight {self.weight:.1f}"


class BesideContacts:
    """The inputs of one robot beside joints and odometry.

    Attributes:
        settings, given, memory: of :func:`~hybrid_contact_ros.kernels.estimation.sensor_likelihoods.sense`.
    """

    def __init__(self, model: RigidBodyModel, config: SensorsConfig, weight: float) -> None:
        m = model.contacts
        self._model, self._placement = model, model.joints.placement
        share = weight / max(m, 1)
        names = [name for name in SensorSettings._fields if hasattr(config, name)]
        self.settings = SensorSettings(
            **{name: float(getattr(config, name)) for name in names},
            part=1.0 / share if share > 0.0 else 0.0,
            weight=weight if model.floating_base else 0.0,
        )  # type: ignore[arg-type]
        self.given, self.memory = sensor_given(m), sensor_memory(m)
        frames = [model.frame_of(link) for link in model.contact_frames]
        self._joints = np.array([0 if f is None else f[0] for f in frames], dtype=np.intp)
        self._axes = np.array([np.eye(3) if f is None else f[1] for f in frames]).reshape(m, 3, 3)
        self._unit_ns = 0
        self._any = False
        self._used = np.zeros((2, m), dtype=np.bool_)

    def reset(self) -> None:
        """Forget all that was learned."""
        forget(self.memory)
        self._unit_ns = 0
        self._used.fill(False)

    def take(self, state: RobotState) -> None:
        """A state whose model was just evaluated: write what came with it."""
        force, reading, unit, wanted = (
            state.contact_force, state.contact_reading, state.imu, state.commanded_contacts,
        )  # fmt: skip
        if force is None and reading is None and unit is None and wanted is None:
            if self._any:
                self._any = False
                self.given.present.fill(0)
                silence(self.memory)
            return
        self._any, present = True, self.given.present
        if force is not None or reading is not None or present[FEET]:
            self._take_feet(state.stamp_ns, force, reading)
        present[FEET] = force is not None or reading is not None
        new = unit is not None and unit.acceleration is not None and unit.stamp_ns != self._unit_ns
        present[UNIT] = new
        if new and unit is not None:
            self._unit_ns = unit.stamp_ns
            self.given.acceleration[:] = unit.acceleration
        present[WANTED] = wanted is not None
        if wanted is not None:
            self.given.wanted[:] = wanted.wanted
            self.given.since[:] = 1e-9 * (state.stamp_ns - wanted.since_ns)
        if not present.any():
            silence(self.memory)

    def _take_feet(self, stamp_ns: int, force: ContactForces | None, reading: ContactReadings | None) -> None:
        given = self.given
        if force is None:
            given.force.fill(np.nan)
        else:
            # Rotations are kept column by column: these are the axes of the joints' frames, as rows.
            turned = self._placement[self._joints, :9].reshape(-1, 3, 3)
            normal = np.einsum("mab,mb->ma", turned, self._model.contact_normals)
            axis = np.einsum("mba,mb->ma", self._axes, normal)
            given.axis[:] = np.where(force.in_world[:, None], self._model.contact_normals, axis)
            given.force[:] = np.where(force.valid[:, None], force.force, np.nan)
            given.age[FORCE] = np.where(force.valid, np.abs(1e-9 * (stamp_ns - force.stamp_ns)), 0.0)
            self._used[FORCE] |= force.valid
        if reading is None:
            given.reading.fill(np.nan)
        else:
            given.reading[:] = np.where(reading.valid, reading.raw, np.nan)
            given.age[READING] = abs(1e-9 * (stamp_ns - reading.stamp_ns))
            self._used[READING] |= reading.valid

    def weights(self) -> tuple[SensorWeight, ...]:
        """Of each foot sensor that was ever used."""
        return tuple(
            SensorWeight(name, _KINDS[kind], float(self.memory.trust[kind, i]))
            for kind in (FORCE, READING)
            for i, name in enumerate(self._model.contact_names)
            if self._used[kind, i]
        )

    @property
    def doubted(self) -> bool:
        """Whether a sensor that was used is believed little."""
        return bool((self._used & (self.memory.trust < BELIEVED)).any())

    @property
    def loads(self) -> NDArray[np.float64]:
        """(2, m), loads by force sensors and by readings, in parts of a stance; NaN without."""
        return self.memory.load.copy()
