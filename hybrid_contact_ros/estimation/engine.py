"""The compiled calls of one update: what they are given, and what is made of their answer."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig, EstimatorConfig
from hybrid_contact_ros.estimation.beside import BesideContacts
from hybrid_contact_ros.estimation.contact_belief import belief_settings, belief_use
from hybrid_contact_ros.estimation.effort_trust import EffortTrust
from hybrid_contact_ros.estimation.friction_memory import friction_table
from hybrid_contact_ros.estimation.ground import ground_scratch, ground_settings
from hybrid_contact_ros.estimation.memory import Memory, engine_out, lists_block, lists_in, measurement, update_scratch
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.stream_offsets import note_spin
from hybrid_contact_ros.estimation.stride_course import stride_course
from hybrid_contact_ros.estimation.support import force_level, shared_weight, stands, suited, weight
from hybrid_contact_ros.kernels.bound import Bound
from hybrid_contact_ros.kernels.estimation.belief_step import CALIBRATED
from hybrid_contact_ros.kernels.estimation.measure import MeasureSettings, measure_given
from hybrid_contact_ros.kernels.estimation.standing_feet import StandingFeet
from hybrid_contact_ros.kernels.estimation.update import update_given
from hybrid_contact_ros.kernels.estimation.update_records import (
    CODES,
    NUMBERS,
    VECTORS,
    PredictionOut,
    RobotContacts,
    UpdateProblem,
    UpdateSettings,
)
from hybrid_contact_ros.kernels.estimation.update_steps import TANGENTS
from hybrid_contact_ros.kernels.given import Given
from hybrid_contact_ros.kernels.modes.records import state_scratch
from hybrid_contact_ros.kernels.stability.constraint import CONTACTS_WITHOUT_LIMIT
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import REAL_TIME_STEPS, TOLERANCE, mode_steps
from hybrid_contact_ros.stability.workspace import TOLERANCE as FLAG_TOLERANCE

Array = NDArray[np.float64]

_FLOATS = set(UpdateSettings._fields) - {"mode_steps", "rollout_steps", "flag_steps", "floating_base"}
_STEPS, _PAIRS = 2, 5  # of what the kernel returns
_ROLLOUT_STEPS = 200  # of splitting at most, where an active set fails


class Answer(NamedTuple):
    """What one update says; its arrays are of this update alone.

    Attributes:
        floats, bytes: the members of :class:`~hybrid_contact_ros.kernels.estimation.update_records.PredictionOut`, one
            behind the other: vectors and numbers, codes and truths. residual: of the mode.
        lists: the block of the lists (:func:`~hybrid_contact_ros.estimation.memory.lists_in`); None where those of
            sequence and pairs are empty.
        validity: bits of Validity. steps, detected, told, pairs: how many entries of the lists are filled.
    """

    floats: Array
    bytes: NDArray[np.uint8]
    lists: NDArray[np.uint8] | None
    residual: float
    validity: int
    steps: int
    detected: int
    told: int
    pairs: int


class Engine:
    """Lays out the arrays of the compiled calls once, and makes the calls of each state.

    Attributes:
        memory: what is remembered from state to state. measured: what the last state says by itself.
        scratch: ``touching``, ``load`` and ``b`` of the last update are read by tests.
        ahead: what an impact set is extrapolated from, with the mode's acceleration.
        lists: what the last update wrote of sequence, events and pairs. list_sizes: contacts, and events of a sequence.
    """

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig, due: Array) -> None:
        """``due``: (m, 2, 3), as of :class:`~hybrid_contact_ros.estimation.rhythm.StrideRhythm`, which writes it."""
        m, nv = model.contacts, model.nv
        self._model = model
        vectors, codes = 3 * VECTORS * m, CODES * m
        self._floats, self._bytes = np.zeros(vectors + NUMBERS * m), np.zeros(codes + 2 * m, np.uint8)
        self._out = PredictionOut(
            vectors=self._floats[:vectors].reshape(VECTORS, m, 3),
            numbers=self._floats[vectors:].reshape(NUMBERS, m),
            codes=self._bytes[:codes].reshape(CODES, m),
            truths=self._bytes[codes:].view(np.bool_).reshape(2, m),
        )
        self._passive = model.floating_base and nv == 6
        self.memory = Memory(
            m, nv, model.contact_frames, EffortTrust(model, config.trust),
            BesideContacts(model, config.sensors, shared_weight(model)), model.friction,
        )  # fmt: skip
        self.measured, self.scratch = measurement(m, nv), update_scratch(m, nv)
        self.ahead, self.list_sizes = engine_out(m), (m, config.prediction.rollout_events)
        self._lists = lists_block(*self.list_sizes)
        self.lists = lists_in(self._lists, *self.list_sizes)
        self._last_ns: int | None = None
        self._no_covariance = np.zeros((2, 6, 6))
        # Own copies: a read-only array would be another type for the kernels.
        robot = RobotContacts(
            normals=model.contact_normals.copy(),
            tangents=model.contact_tangents.copy(),
            friction=model.friction.copy(),
            restitution=model.restitution.copy(),
        )
        self._robot = robot
        flat_rows = model.rows.rows.reshape(m * (1 + TANGENTS), nv)
        self._after = Given(np.zeros((len(model.tree.parent), 10)), *self.measured)
        contacts = model.rows
        self._problem = UpdateProblem(
            bias=model.here.bias,
            effort=model.measured.effort,
            rows=contacts.rows,
            flat_rows=flat_rows,
            gap=contacts.gap,
            drift=contacts.drift,
            position=contacts.position,
            due=due,
        )
        memory = self.memory
        self._moment = Moment(
            state=RobotState(0, model.measured.configuration, model.velocity),
            closed=memory.tracker.closed,
            slipping=memory.tracker.slipping,
            acceleration=memory.mode.acceleration,
            backed=self.ahead.backed,
            event_times=self.ahead.event_times,
            gap=contacts.gap,
            gap_velocity=self.measured.gap_velocity,
        )
        self.ground = ground_scratch(model)
        self.course = stride_course(
            m, model.measured.configuration, model.velocity, model.floating_base, config.prediction.rhythm
        )
        # Probabilities were calibrated on robots that stand.
        self._says = -1 if stands(model) else ~CALIBRATED
        self._standing = np.zeros((m, 2)), np.zeros((8, 6))  # scratch
        self.tune(config)

    def tune(self, config: EstimatorConfig) -> None:
        """Answer from the next state on by this configuration. All that is remembered stays; ``config`` may differ from
        the one before only in what :mod:`~hybrid_contact_ros.config_live` names."""
        model, memory, robot, problem = self._model, self.memory, self._robot, self._problem
        config = suited(model, config)
        m, flat_rows, activation = model.contacts, self._problem.flat_rows, config.activation
        shared = shared_weight(model)
        belief = belief_settings(config.belief, config.prediction.bound_sigmas, shared, m)
        settings = MeasureSettings(
            float(activation.gap_sigma), float(activation.velocity_sigma),
            config.observer.gain > 0.0 or config.trust.bandwidth > 0.0, model.floating_base, belief.share,
            belief.rest_speed,
        )  # fmt: skip
        feet = StandingFeet(
            memory.tracker.closed, memory.belief.force, memory.trust.memory.force_weight, memory.belief.probability,
            *self._standing,
        )  # fmt: skip
        before = Given(
            *settings, robot.tangents, *model.tree, *model.bodies, model.joints.columns, model.joints.placement,
            *memory.trust.correction, *feet, model.measured.configuration, *model.here, model.rows.rows, flat_rows,
            model.velocity, model.measured.effort,
        )  # fmt: skip
        self._measure = Bound(measure_given, before)
        given = Given(
            *update_settings(model, config),
            *ground_settings(config.ground, weight(model), m, felt=not stands(model)),
            *belief_use(
                config.belief, model.contact_frames, len(model.joint_names), model.contact_rank, force_level(model)
            ),
            *belief, *robot, *problem,
            *self.measured, *memory.tracker, *memory.mode, memory.warm, memory.lines, memory.rate_lines,
            *memory.observer, *memory.log,
            *memory.trust.table, *memory.trust.memory, *memory.trust.scratch, *memory.trust.correction,
            *memory.trust.errors, *memory.trust.hang, *memory.trust.noise, *memory.trust.jitter, *memory.stops,
            *friction_table(model, config, shared), *memory.friction, *memory.stance, *memory.footholds,
            *memory.belief, *memory.beside.settings, *memory.beside.given, *memory.beside.memory,
            bool(config.sensors.decide), model.velocity, *memory.offsets, *self.course, *memory.skill, *memory.density,
            *state_scratch(m, TANGENTS), *self.scratch, *self.ground, *self.ahead, *self.lists,
        )  # fmt: skip
        self._update = Bound(update_given, given)

    def measure(self, state: RobotState) -> int:
        """Write what a state, which the model has evaluated, says by itself; of one whose base is uncertain also what
        the feet that stood before say of it. Remembers nothing.

        Returns:
            USABLE, or why it is not, as :func:`~hybrid_contact_ros.kernels.estimation.measure.measure`.
        """
        covariance = state.base_doubt if self._model.floating_base else None
        known = covariance is not None
        given = np.ascontiguousarray(covariance, dtype=np.float64) if known else self._no_covariance
        dt = 0.0 if self._last_ns is None else max(0.0, 1e-9 * (state.stamp_ns - self._last_ns))
        return int(self._measure.call(dt, state.effort is not None, known, given, self._after))

    def moment(self, state: RobotState) -> Moment:
        """What an impact ahead of the state last answered is made from; the arrays are overwritten by the next."""
        self._moment.state = state
        return self._moment

    def trusted(self, state: RobotState) -> bool:
        """Whether the actuation is known: a measured effort, or a single body, which has none."""
        return self._passive or state.effort is not None

    def answer(
        self,
        state: RobotState,
        last_stamp_ns: int | None,
        elapsed: float,
        flags_wanted: bool,
        sequence_wanted: bool,
    ) -> Answer:
        """Answer for the state last measured; ``elapsed`` is the time (s) from the rhythm's origin to its stamp."""
        stamp, first = state.stamp_ns, last_stamp_ns is None
        self._last_ns = stamp
        last = stamp if last_stamp_ns is None else last_stamp_ns
        self.memory.beside.take(state)
        if state.imu is not None or self.memory.offsets.spin[3]:
            note_spin(self.memory.offsets, state)
        found = self._update.call(
            max(0.0, 1e-9 * (stamp - last)), self.trusted(state), stamp, last, first, elapsed,
            0.5 * state.velocity_window, flags_wanted, sequence_wanted, *self._out,
        )  # fmt: skip
        listed = self._lists.copy() if found[_STEPS] or found[_PAIRS] else None
        residual, validity, *counts = found
        return Answer(self._floats.copy(), self._bytes.copy(), listed, residual, validity & self._says, *counts)


def update_settings(model: RigidBodyModel, config: EstimatorConfig) -> UpdateSettings:
    """The configuration as the update reads it."""
    m, activation, stability = model.contacts, config.activation, config.stability
    loads = load_thresholds(model, activation)
    settings = UpdateSettings(
        mode_steps=mode_steps(m),
        rollout_steps=0 if m > CONTACTS_WITHOUT_LIMIT else min(_ROLLOUT_STEPS, mode_steps(m)),
        flag_steps=0 if m > CONTACTS_WITHOUT_LIMIT else REAL_TIME_STEPS,  # 0 bounds the work of all
        gap_on=activation.gap_on,
        gap_off=activation.gap_off,
        velocity_tolerance=activation.velocity_tolerance,
        slip_on=activation.slip_on,
        slip_off=activation.slip_off,
        force_on=loads.force_on,
        force_off=loads.force_off,
        load_sigma=loads.force_sigma,
        gap_sigma=activation.gap_sigma,
        velocity_sigma=activation.velocity_sigma,
        acceleration_sigma=activation.acceleration_sigma,
        force_sigma=activation.force_sigma,
        sigmas=config.prediction.bound_sigmas,
        horizon=config.prediction.horizon,
        rollout_horizon=config.prediction.rollout,
        gain=config.observer.gain,
        force_tolerance=stability.force_tolerance,
        acceleration_tolerance=stability.acceleration_tolerance,
        grazing_speed=stability.grazing_speed,
        duration=stability.pseudo_impulse_duration,
        coupling_tolerance=stability.coupling_tolerance,
        restitution_margin=config.impact.restitution_margin,
        mode_tolerance=TOLERANCE,
        flag_tolerance=FLAG_TOLERANCE,
        floating_base=model.floating_base,
    )
    # A whole number in the place of a float would be another type for the kernel.
    return UpdateSettings(*(float(x) if name in _FLOATS else x for name, x in settings._asdict().items()))  # type: ignore[arg-type]


def load_thresholds(model: RigidBodyModel, config: ActivationConfig) -> ActivationConfig:
    """The configured thresholds with those of the load lowered for a light robot, which never loads a contact by more.

    ``force_on`` becomes at most a quarter of what each contact carries when all share the weight of what moves,
    ``force_off`` at most 0.4 of ``force_on``, and ``force_sigma`` shrinks in proportion to ``force_on``, since the
    model's forces are as uncertain as they are large.
    """
    force_on = config.force_on
    if model.contacts:
        force_on = min(force_on, 0.25 * shared_weight(model) / model.contacts)
    part = force_on / config.force_on if config.force_on > 0.0 else 1.0
    return replace(
        config,
        force_on=force_on,
        force_off=min(config.force_off, 0.4 * force_on),
        force_sigma=part * config.force_sigma,
    )
