"""One state in, one prediction out: the engine of the live nodes and of the replay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_live import check_tuning
from hybrid_contact_ros.estimation.answers import predictions
from hybrid_contact_ros.estimation.beside import SensorWeight
from hybrid_contact_ros.estimation.effort_errors import JointErrors
from hybrid_contact_ros.estimation.effort_spikes import EffortSpikes
from hybrid_contact_ros.estimation.effort_trust import LimbEfforts, LimbWeight
from hybrid_contact_ros.estimation.engine import Engine
from hybrid_contact_ros.estimation.events import EventLog
from hybrid_contact_ros.estimation.events_ahead import EventsAhead
from hybrid_contact_ros.estimation.impact import check_request
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimation.landing_foresight import LandingForesight
from hybrid_contact_ros.estimation.measurement import StateReader
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.parts import BESIDE, Parts
from hybrid_contact_ros.estimation.prompt_rates import PromptRates
from hybrid_contact_ros.estimation.rhythm import StrideRhythm
from hybrid_contact_ros.estimation.stream_offsets import StreamOffset, stream_offsets
from hybrid_contact_ros.estimation.support import stands
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.kernels.compiling import undisturbed
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.warm import disable_compilation, enable_compilation
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.prediction import Event, ImpactPrediction, Prediction, SensitivityPrediction

if TYPE_CHECKING:
    from hybrid_contact_ros.estimation.event_maps import EventMaps

__all__ = ["BESIDE", "ContactEstimator", "Parts"]

Array = NDArray[np.float64]
_STABILITY, _IMPACT, _SEQUENCE = int(Parts.STABILITY), int(Parts.IMPACT), int(Parts.SEQUENCE)
_SENSITIVITY = int(Parts.SENSITIVITY)


class ContactEstimator:
    """Contact mode, stability flags and post-impact set of a stream of states.

    Each state is answered with the forces of the contact mode that satisfies force-acceleration complementarity
    (Johnson (38)) with the measured effort, for the contacts that gaps and gap velocities leave in question. The
    estimator is deterministic: the same states give the same bits. Its only clock is that of the impact set's deadline,
    and a set cut by it is a prefix of the full one.

    What is remembered from state to state: which contacts were closed and slid (hysteresis), the recent course of loads
    and friction margins (liftoff and slip times), the last velocities (for their noise), the last strides of each
    contact, what forces have shown of its friction, what landings said of how velocities were extrapolated, the landing
    that is under way, the last mode (from which the next is solved), the momentum observer, and the events already
    told. A stamp earlier than the last one forgets all of it, as :meth:`reset` does; one that is equal adds nothing to
    what depends on time; a pause longer than ``LONGEST_PAUSE`` s starts the observer, the courses and the solver anew.

    Without measured effort (``effort`` None) forces and accelerations are unknown: ``VALID_EFFORT`` is clear, statuses
    come from geometry alone, touchdown times assume locked joints (free fall without contacts, no acceleration with),
    slip is not predicted, liftoff only from the last strides of a gait, and flags are UNDECIDED. A single body has no
    joints and is not concerned.

    One estimator (and its model) serves one thread at a time.

    A ball of 2 kg falls from 2 cm above the ground:

    >>> from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotState
    >>> urdf = '''<robot name="ball"><link name="ball"><inertial><mass value="2"/>
    ... <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'''
    >>> config = EstimatorConfig.from_mapping({"contacts": {"ball": {"link": "ball", "radius": 0.1}}})
    >>> estimator = ContactEstimator(RigidBodyModel.from_urdf(urdf, config), config)
    >>> state = RobotState(0, q=np.array([0, 0, 0.12, 0, 0, 0, 1.0]), v=np.zeros(6), effort=np.zeros(6))
    >>> mode = estimator.update(state).mode
    >>> print(mode.closed, mode.next_event, mode.time_to_event.round(4))
    [False] [1] [0.0639]
    """

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        """Raises ValueError for a configuration without contacts (:meth:`EstimatorConfig.require_contacts`), or with an
        impact law or numbers of draws that no set could be made with."""
        if not model.contacts:
            config.require_contacts()
        self.model, self.config = model, config
        m = model.contacts
        self._rhythm = StrideRhythm(m, config.prediction.bound_sigmas)
        self._engine = Engine(model, config, self._rhythm.due)
        self._spikes = EffortSpikes(self._engine.memory.trust.table.scale, held_up=not stands(model))
        self._rates = PromptRates(model)
        self._reader = StateReader(model, self._engine)
        self._log = EventLog(m)
        self._impact_sets = ImpactSets(model, config)
        self._foresight = LandingForesight(model, config, self._engine.memory.friction)
        self._event_maps: EventMaps | None = None  # made when it is first asked for
        self._latest: Moment | None = None

    @property
    def stamp_ns(self) -> int | None:
        """Stamp of the state last updated; None before the first."""
        return None if self._latest is None else self._latest.stamp_ns

    def tune(self, config: EstimatorConfig) -> None:
        """Answer from the next state on with other tolerances and intervals of impacts; all that is remembered stays.

        Raises:
            ValueError: more is different (:mod:`~hybrid_contact_ros.config_live`), or it cannot be used. Nothing has
                changed then.
        """
        check_tuning(self.config, config)
        sets = self._impact_sets.tuned(config)
        self._impact_sets, self.config = sets, config
        self._engine.tune(config)
        self._foresight.tune(config)
        if self._event_maps is not None:
            self._event_maps.tune(config)

    def reset(self) -> None:
        """Forget all earlier states."""
        self._latest = None
        self._foresight.reset()
        self._engine.memory.reset()
        self._rhythm.reset()
        self._log.reset()
        self._spikes.reset()
        self._rates.reset()

    def warm(self, freeze: bool = False, parts: Parts = Parts.ALL) -> None:
        """Compile every kernel that an update or an impact may need: the first state is then as fast as the thousandth.
        Forgets earlier states.

        Args:
            freeze: forbid further compilation in this process, as nodes do, so that nothing can ever stall. Functions
                for use offline (``outcome_bounds``, ``post_impact_set``, ``simultaneous_impact``, modes by enumeration)
                then raise TypeError, unless they were used before
                (:func:`~hybrid_contact_ros.kernels.warm.enable_compilation` undoes it).
            parts: those that will be asked for. Without MODE it is what :meth:`impact` needs; without IMPACT that is
                left out.
        """
        enable_compilation()  # another robot of this process may have frozen kernels that it did not need
        with undisturbed():
            # Straight legs cannot move their feet along themselves, and no impact solver would run: bent ones can.
            for q in (self.model.neutral(), self.model.bent()):
                self._warm_at(q, parts)
        if freeze:
            disable_compilation()

    def _warm_at(self, q: Array, parts: Parts) -> None:
        model = self.model
        # Against all contacts at once, so that the impact solvers really run.
        normals = model.problem(RobotState(0, q, np.zeros(model.nv))).normal_jacobian
        v = -normals.sum(axis=0) if model.contacts else np.zeros(model.nv)
        efforts = (np.zeros(model.nv), None)
        in_turn = parts & ~BESIDE
        if in_turn:
            for stamp in range(3):
                for effort in efforts:
                    self.update(RobotState(stamp * 1_000_000, q, v, effort), in_turn)
            self.reset()
        if parts & Parts.SENSITIVITY and model.contacts:
            self._maps().warm(q)
        if parts & Parts.IMPACT and model.contacts:
            self._impact_sets.warm()
            for effort in efforts:
                self.impact(RobotState(0, q, v, effort), contacts=range(model.contacts), samples=16)

    def update(self, state: RobotState, parts: Parts | int = Parts.ALL) -> Prediction:
        """Answer for one state, the next in time.

        Raises:
            UnusableStateError: a stamp that is no whole number; what is no array, or one of the wrong size, or not
                finite; a base quaternion that is not of unit length; a mass matrix that is not positive definite. This
                is a ValueError. What the estimator remembers is then unchanged.
        """
        wrong = state.wrong_type or state.wrong_sensors(self.model.contacts)
        if wrong is not None:
            raise UnusableStateError(wrong)
        # Check the state; form J, J v, G, and the factor of M. Only this step can refuse, and it remembers nothing.
        given, state = state, self._spikes.cleaned(state)
        rates = self._rates.prompt(state.stamp_ns, state.q, state.v)
        prompt = state if rates is state.v else replace(state, v=rates)
        self._reader.read(prompt)
        self._rates.note(state.stamp_ns)
        self._spikes.note(given, state)
        state = prompt
        # Forget what a stamp of the past, or a pause, has made worthless.
        stamp, last = state.stamp_ns, self.stamp_ns
        if last is not None and (stamp < last or 1e-9 * (stamp - last) > LONGEST_PAUSE):
            last = self._forget_before(stamp, last)
        # Decide which contacts are closed, find their forces, foretell what comes next: kernels/estimation/update.py.
        engine, wanted = self._engine, int(parts)  # arithmetic of flags is slow
        answer = engine.answer(
            state, last, self._rhythm.elapsed(stamp), wanted & _STABILITY != 0, wanted & _SEQUENCE != 0
        )
        self._latest = moment = engine.moment(state)
        # Put the answers together: the mode, the stability flags, what is new, and the set of the impact that is ahead.
        mode, stability = predictions(stamp, answer, engine.list_sizes)
        events: tuple[Event, ...] = ()
        if answer.told:
            events = self._log.tell(stamp, engine.lists.events[: answer.told], answer.detected, mode.probability)
            self._learn_strides(events)
            self._foresight.touched(events)
        else:
            self._log.nothing_new(stamp)
        self._foresight.add(moment)
        impact = self.next_impact() if wanted & _IMPACT else None
        if wanted & _SENSITIVITY:
            return Prediction(mode, stability, impact, events, self.next_sensitivities())
        return Prediction(mode, stability, impact, events)

    @property
    def disobeyed(self) -> tuple[str, ...]:
        """The joints that are told what to do (``RobotState.command``) and give another effort: their commands are not
        used."""
        found = self._foresight.disobeyed
        return () if found is None else tuple(np.array(self.model.velocity_names)[found].tolist())

    def next_impact(self) -> ImpactPrediction | None:
        """The set of the next impact after the state last updated, extrapolated with the mode's acceleration.

        None when no touchdown is predicted within ``impact.horizon``. ``update`` with ``Parts.IMPACT`` is ``update``
        without it and then this: a driver that publishes in between has its modes out before the set is computed.
        """
        return without_pauses(self._impact_sets.ahead(self.impact_ahead()))

    def impact_ahead(self) -> ImpactAhead | None:
        """What :meth:`next_impact` would be computed from: a copy for another thread, which has a model and an
        :class:`~hybrid_contact_ros.estimation.impact_sets.ImpactSets` of its own. None without a touchdown within
        ``impact.horizon``."""
        return self._foresight.ahead()

    def next_sensitivities(self) -> tuple[SensitivityPrediction, ...]:
        """How each event that is predicted within ``sensitivity.horizon`` changes with the state before it, for the
        state last updated; ``update`` with ``Parts.SENSITIVITY`` says it, too."""
        return without_pauses(self._maps().ahead(self.events_ahead()))

    def events_ahead(self) -> EventsAhead | None:
        """What :meth:`next_sensitivities` would be computed from: a copy for another thread, which has a model and an
        :class:`~hybrid_contact_ros.estimation.event_maps.EventMaps` of its own. None without an event ahead."""
        latest = self._latest
        if latest is None:
            return None
        return EventsAhead.of(latest, self.config.sensitivity.horizon, self._engine.trusted(latest.state))

    def limbs(self) -> tuple[LimbWeight, ...]:
        """How far the measured efforts of each limb explain its motion up to the state last updated."""
        return self._engine.memory.trust.weights()

    def effort_report(self) -> tuple[LimbEfforts, ...]:
        """The same, with what was learned of scale and bias of the efforts; it solves for these when it is called."""
        return self._engine.memory.trust.report()

    def joint_errors(self) -> tuple[JointErrors, ...]:
        """Scale, bias and dry friction by which the measured efforts of each joint are corrected; none while they are
        taken as they are."""
        return self._engine.memory.trust.joint_errors()

    @property
    def held_up(self) -> tuple[str, ...]:
        """The limbs that carry nothing while something else than the contacts carries the robot (a crane, a stand), as
        the efforts tell: their contacts are open."""
        return self._engine.memory.trust.hanging

    @property
    def force_noise(self) -> Array:
        """(m,) N: by how much noise of the motion lets the observed normal forces of the state last updated be off, as
        a standard deviation; NaN where none are observed. The observer's lag is not in it."""
        belief = self._engine.memory.belief
        if belief.noise[0] < 0.0:
            return np.full(self.model.contacts, np.nan)
        return np.sqrt(np.diag(belief.covariance))

    def sensors(self) -> tuple[SensorWeight, ...]:
        """How far each foot sensor that was used is believed: one that contradicts its foot's motion is not."""
        return self._engine.memory.beside.weights()

    @property
    def sensors_doubted(self) -> bool:
        """Whether a foot sensor is believed little."""
        return self._engine.memory.beside.doubted

    def offsets(self) -> tuple[StreamOffset, ...]:
        """How late efforts, the base and an inertial unit come against the joint states, as far as it is known, and the
        velocities of joints against positions, where that is made up for."""
        memory = self._engine.memory
        found = stream_offsets(memory.offsets, memory.trust.correction, memory.trust.errors)
        return (*found, self._rates.offset())

    def _maps(self) -> EventMaps:
        if self._event_maps is None:
            # Imported here, because most estimators are never asked.
            from hybrid_contact_ros.estimation.event_maps import EventMaps

            self._event_maps = EventMaps(self.model, self.config)
        return self._event_maps

    def impact(
        self,
        state: RobotState,
        contacts: Iterable[int] | None = None,
        gap_tolerance: float | None = None,
        samples: int | None = None,
        seed: int | None = None,
        deadline_ns: int | None = None,
    ) -> ImpactPrediction:
        """The post-impact set of a state, as if the named contacts touched now. Nothing is remembered of it.

        Args:
            contacts: indices of those that take part; by default all with a gap of at most ``gap_tolerance`` (m, by
                default ``activation.gap_on``).
            samples, seed, deadline_ns: in place of the configured ones; a deadline of 0 is none.

        Raises:
            ValueError: a bad state, as :meth:`update`; an index out of range; samples, seed or deadline out of range.
        """
        config = self.config.impact
        samples = config.samples if samples is None else samples
        seed = config.seed if seed is None else seed
        check_request(samples, seed, deadline_ns, gap_tolerance)
        problem = self._reader.checked(state)
        return self._impact_sets.of_state(state, problem, contacts, gap_tolerance, samples, seed, deadline_ns)

    def _forget_before(self, stamp_ns: int, last_ns: int) -> int | None:
        """The last stamp, unless it lies ahead and all was forgotten."""
        if stamp_ns < last_ns:
            self.reset()
            return None
        self._engine.memory.pause()
        self._foresight.pause()
        return last_ns

    def _learn_strides(self, events: tuple[Event, ...]) -> None:
        if self.config.prediction.rhythm:
            for event in events:
                if event.detected:
                    self._rhythm.note(event)
