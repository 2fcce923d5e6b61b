"""One state in, one prediction out: the engine of the live nodes and of the replay."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status, Validity
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.events import EventLog, EventPredictor
from hybrid_contact_ros.estimation.flags import StabilityFlags
from hybrid_contact_ros.estimation.impact import check_request, impact_law, impacting_contacts, predict_impact
from hybrid_contact_ros.estimation.momentum_observer import LONGEST_PAUSE, MomentumObserver, contact_forces
from hybrid_contact_ros.estimation.rhythm import StrideRhythm
from hybrid_contact_ros.estimation.sequence import ModeRollout
from hybrid_contact_ros.estimation.tracker import ContactTracker, load_thresholds
from hybrid_contact_ros.estimation.uncertainty import GapUncertainty
from hybrid_contact_ros.estimation.vertices import ContactVertices
from hybrid_contact_ros.kernels.estimation.contact_tracking import contact_quantities, contact_rates, model_loads
from hybrid_contact_ros.kernels.mechanics.contact_drift import balanced_drift
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART
from hybrid_contact_ros.kernels.warm import disable_compilation, enable_compilation
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace, mode_steps
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction, Prediction

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_WIDTH = 3  # rows of a contact: normal and two tangents
# G_nn below this times the largest is that of a contact which no motion changes.
_IMMOVABLE = 1e-12
# A base quaternion may differ from unit length by this much: far above the rounding of float32.
_QUATERNION = 1e-3


class Parts(IntFlag):
    """What an update computes. The mode is always computed; SEQUENCE is the sequence of modes after it."""

    MODE = 1
    STABILITY = 2
    IMPACT = 4
    SEQUENCE = 8
    ALL = 15


class ContactEstimator:
    """Contact mode, stability flags and post-impact set of a stream of states.

    Each state is answered with the forces of the contact mode that satisfies force-acceleration complementarity (J 38)
    with the measured effort, for the contacts that gaps and gap velocities leave in question. Deterministic: the same
    states give the same bits; the only clock is that of the impact set's deadline, and a set cut by it is a prefix of
    the full one.

    What is remembered from state to state: which contacts were closed and slid (hysteresis), the recent course of
    loads and friction margins (liftoff and slip times), the last strides of each contact, the last mode (from which the
    next is solved), the momentum observer, and the events already told. A stamp earlier than the last one forgets all
    of it, as :meth:`reset` does; one that is equal adds nothing to what depends on time; a pause longer than
    ``LONGEST_PAUSE`` s starts the observer, the courses and the solver anew.

    Without measured effort (``effort`` None) forces and accelerations are unknown: ``VALID_EFFORT`` is clear, statuses
    come from geometry alone, touchdown times assume locked joints (free fall without contacts, no acceleration with),
    slip is not predicted, liftoff only from the rhythm of a steady gait, and flags are UNDECIDED. A single body has no
    joints and is not concerned.

    One estimator (and its model) serves one thread at a time.
    """

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        """Raises ValueError for a configuration without contacts (:meth:`EstimatorConfig.require_contacts`)."""
        if not model.contacts:
            config.require_contacts()
        self.model, self.config = model, config
        m = model.contacts
        self._tracker = ContactTracker(model.contact_tangents.copy(), load_thresholds(model, config.activation))
        self._predictor = EventPredictor(m, config.activation, config.prediction)
        self._rhythm = StrideRhythm(m, config.prediction.bound_sigmas)
        self._log = EventLog(m, config.prediction)
        self._observer = MomentumObserver(model.nv, config.observer.gain)
        self._modes = ModeWorkspace(model.nv, m, _WIDTH - 1, mode_steps(m), CRITICAL_PART)
        self._flags = StabilityFlags(m, _WIDTH - 1, config)
        self._uncertainty = GapUncertainty(m, config.activation)
        # Own copies: a read-only array would be another type for the kernels.
        self._normals, self._tangents = model.contact_normals.copy(), model.contact_tangents.copy()
        self._friction = model.friction.copy()
        self._rollout = ModeRollout(
            m, _WIDTH - 1, self._friction, model.restitution, config.activation, config.prediction
        )
        self._load, self._slip_rate = np.zeros(m), np.zeros(m)
        self._basis, self._values = np.zeros((m * _WIDTH, model.nv)), np.zeros(m * _WIDTH)
        self._vertices = ContactVertices(config, m)
        self._law = impact_law(config.impact, model.restitution)
        self._passive = model.floating_base and model.nv == 6
        self._stamp: int | None = None
        self._latest: tuple[RobotState, Array, Codes, Array] | None = None

    def reset(self) -> None:
        """Forget all earlier states."""
        self._stamp = self._latest = None
        self._tracker.reset()
        self._predictor.reset()
        self._rhythm.reset()
        self._log.reset()
        self._observer.reset()
        self._modes.forget()

    def warm(self, freeze: bool = False) -> None:
        """Compile every kernel that an update or an impact may need: the first state is then as fast as the thousandth.
        Forgets earlier states.

        Args:
            freeze: forbid further compilation in this process, as nodes do, so that nothing can ever stall. Functions
                for use offline (``outcome_bounds``, modes by enumeration) then raise TypeError, unless they were
                used before (:func:`~hybrid_contact_ros.kernels.warm.enable_compilation` undoes it).
        """
        enable_compilation()  # another robot of this process may have frozen kernels that it did not need
        model = self.model
        # Straight legs cannot move their feet along themselves, and no impact solver would run: bent ones can.
        for q in (model.neutral(), model.bent()):
            # Against all contacts at once, so that the impact solvers really run.
            normals = model.problem(RobotState(0, q, np.zeros(model.nv))).normal_jacobian
            v = -normals.sum(axis=0) if model.contacts else np.zeros(model.nv)
            for stamp in range(3):
                for effort in (np.zeros(model.nv), None):
                    state = RobotState(stamp * 1_000_000, q, v, effort)
                    self.update(state)
                    if model.contacts:
                        self.impact(state, contacts=range(model.contacts), samples=16)
            self.reset()
        if freeze:
            disable_compilation()

    def update(self, state: RobotState, parts: Parts = Parts.ALL) -> Prediction:
        """Answer for one state, the next in time.

        Raises:
            ValueError: an array of the wrong size, or not finite, or a base quaternion that is not of unit length. What
                the estimator remembers is then unchanged.
        """
        state, problem = self._checked(state)
        position = self.model.contact_positions
        m = self.model.contacts
        if self._stamp is not None and state.stamp_ns < self._stamp:
            self.reset()
        dt = 0.0 if self._stamp is None else 1e-9 * (state.stamp_ns - self._stamp)
        if dt > LONGEST_PAUSE:
            self._predictor.reset()
            self._observer.reset()
            self._modes.forget()
        trusted = state.effort is not None or self._passive

        rate, tangential, speed = np.empty(m), np.empty((m, 3)), np.empty(m)
        rows = problem.jacobian().reshape(m, _WIDTH, problem.nv)
        velocity = rows @ problem.velocity
        contact_rates(rows, problem.velocity, self._normals, self._tangents, rate, tangential, speed)
        tracker, modes = self._tracker, self._modes
        touching = tracker.near(dt, problem.gap, rate, tangential)
        balanced_drift(_WIDTH, rows, touching, self._basis, self._values, problem.jacobian_drift)
        code, residual = self._solve(problem, touching)
        tracker.decide(problem.gap, rate, self._load, trusted)
        released = (touching != 0) & (tracker.closed == 0)
        if released.any() and (modes.forces[released, 0] > 0.0).any():
            # What does not hold carries nothing: the others take over its load.
            touching[:] = tracker.closed
            code, residual = self._solve(problem, touching)
        self._stamp = state.stamp_ns

        if trusted:
            accelerations, acceleration = modes.contact_acceleration.copy(), modes.acceleration.copy()
            forces = modes.forces.copy()
        else:
            accelerations, acceleration = self._locked(problem, rows)
            forces = np.zeros((m, _WIDTH))
        force_model, margin = np.empty((m, 3)), np.empty(m)
        contact_quantities(
            self._normals,
            self._tangents,
            self._friction,
            tangential,
            speed,
            forces,
            accelerations,
            force_model,
            margin,
            self._slip_rate,
        )
        estimate = self._observe(state, problem, rows, dt)
        predictor = self._predictor
        covariance = state.base_covariance if self.model.floating_base else None
        sigmas = self._uncertainty.of(problem.normal_jacobian, covariance)
        predictor.update(
            dt,
            trusted,
            tracker.closed,
            tracker.slipping,
            self._friction,
            problem.gap,
            rate,
            speed,
            self._load,
            margin,
            accelerations,
            self._slip_rate,
            self._rhythm.ahead(state.stamp_ns),
            *sigmas,
        )
        kind, backed, times = predictor.kind.copy(), predictor.backed, predictor.times
        sequence = self._rollout.follow(
            modes.delassus,
            modes.free,
            problem.gap,
            velocity.reshape(-1),
            tracker.closed,
            backed,
            times,
            trusted and bool(parts & Parts.SEQUENCE),
            *sigmas,
        )
        events = self._log.update(
            state.stamp_ns, tracker.status, tracker.doubted, problem.gap, tracker.probability, kind, times
        )
        if self.config.prediction.rhythm:
            for event in events:
                if event.detected:
                    self._rhythm.note(event)
        known = force_validity(trusted, code, touching)
        force_model[~known] = margin[~known] = np.nan
        mode = ModePrediction(
            stamp_ns=state.stamp_ns,
            status=tracker.status.copy(),
            probability=tracker.probability.copy(),
            probability_valid=False,
            position=position,
            normal=self._normals.copy(),
            gap=problem.gap,
            gap_velocity=rate,
            gap_acceleration=accelerations[:, 0].copy(),
            tangential_velocity=tangential,
            force_model=force_model,
            force_valid=known,
            force_estimate=estimate,
            friction_coefficient=problem.friction,
            friction_margin=margin,
            critical_friction=modes.critical_friction.copy(),
            jammed=modes.jammed.copy(),
            next_event=kind,
            time_to_event=times[:, 0].copy(),
            earliest=times[:, 1].copy(),
            latest=times[:, 2].copy(),
            sequence=sequence,
            validity=int(self._validity(trusted, code, known) | (Validity.SEQUENCE if self._rollout.whole else 0)),
            residual=residual,
        )
        stability = self._flags.predict(
            state.stamp_ns,
            problem,
            velocity,
            tracker.touching,
            tracker.closed,
            modes,
            backed,
            *sigmas,
            bool(parts & Parts.STABILITY),
            trusted and code == Status.SOLVED,
        )
        self._latest = (state, acceleration, backed, times)
        return Prediction(mode, stability, self.next_impact() if parts & Parts.IMPACT else None, events)

    def next_impact(self) -> ImpactPrediction | None:
        """The set of the next impact after the state last updated, extrapolated with the mode's acceleration.

        None when no touchdown is predicted within ``impact.horizon``. ``update`` with ``Parts.IMPACT`` is ``update``
        without it and then this: a driver that publishes in between has its modes out before the set is computed.
        """
        if self._latest is None:
            return None
        state, acceleration, kind, times = self._latest
        config = self.config.impact
        contacts, when = impacting_contacts(config, self._tracker.closed, kind, times)
        if not contacts.size:
            return None
        q = self.model.integrate(state.q, when * (state.v + 0.5 * when * acceleration))
        v = state.v + when * acceleration
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            return None
        problem = self.model.problem(RobotState(state.stamp_ns, q, v, state.effort))
        if not np.isfinite(problem.bias_force).all():
            return None
        return predict_impact(
            state.stamp_ns,
            when,
            problem,
            contacts,
            self._vertices.of(contacts),
            config,
            self._law,
            config.samples,
            config.seed,
            int(1e9 * config.deadline) or None,
        )

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
        count = config.samples if samples is None else samples
        number = config.seed if seed is None else seed
        check_request(count, number, deadline_ns, gap_tolerance)
        state, problem = self._checked(state)
        if contacts is None:
            limit = self.config.activation.gap_on if gap_tolerance is None else gap_tolerance
            chosen = np.flatnonzero(problem.gap <= limit)
        else:
            chosen = np.array(sorted(contact_set("contacts", contacts, problem.contacts)), dtype=np.intp)
        limit_ns = int(1e9 * config.deadline) if deadline_ns is None else deadline_ns
        corners = self._vertices.of(chosen)
        return predict_impact(
            state.stamp_ns, 0.0, problem, chosen, corners, config, self._law, count, number, limit_ns or None
        )

    def _checked(self, state: RobotState) -> tuple[RobotState, ContactProblem]:
        """The state with float64 arrays and its problem, or ValueError; changes nothing that is remembered."""
        model = self.model
        arrays = [
            None if x is None else np.ascontiguousarray(x, dtype=np.float64) for x in (state.q, state.v, state.effort)
        ]
        assert arrays[0] is not None and arrays[1] is not None
        state = RobotState(state.stamp_ns, arrays[0], arrays[1], arrays[2], state.base_covariance)
        fault = state.fault(model.nq, model.nv)
        if fault is not None:
            raise ValueError(fault)
        if model.floating_base:
            norm = float(np.sqrt((state.q[3:7] ** 2).sum()))
            if not abs(norm - 1.0) <= _QUATERNION:
                raise ValueError(f"the base quaternion q[3:7] has length {norm:g}; normalise it")
        problem = model.problem(state)
        if not (np.isfinite(problem.bias_force).all() and np.isfinite(problem.gap).all()):
            raise ValueError("the state is too large to compute with: its forces or gaps are not finite numbers")
        return state, problem

    def _solve(self, problem: ContactProblem, touching: Codes) -> tuple[int, float]:
        """Forces and accelerations of the mode of ``touching`` into the workspace, and the loads."""
        modes = self._modes
        code, residual, _ = modes.solve(problem, touching, 0.0, sliding=self._tracker.sliding)
        if code == Status.SINGULAR:
            raise ValueError("the mass matrix of this state is not positive definite")
        model_loads(_WIDTH, _IMMOVABLE, modes.delassus, modes.forces, modes.contact_acceleration, self._load)
        return int(code), float(residual)

    def _locked(self, problem: ContactProblem, rows: Array) -> tuple[Array, Array]:
        """Accelerations without known efforts: of the contacts (m, 3) and of v (nv,), with the joints locked."""
        m = problem.contacts
        acceleration = np.zeros(problem.nv)
        contacts = np.zeros((m, _WIDTH))
        if self.model.floating_base and not self._tracker.closed.any():
            acceleration[:6] = np.linalg.solve(problem.mass[:6, :6], -problem.bias_force[:6])
            contacts = rows @ acceleration + problem.jacobian_drift
        return contacts, acceleration

    def _observe(self, state: RobotState, problem: ContactProblem, rows: Array, dt: float) -> Array:
        """Forces by the momentum observer (m, 3), world frame; NaN without effort, and for open contacts."""
        observer, m = self._observer, self.model.contacts
        effort = np.zeros(problem.nv) if state.effort is None and self._passive else state.effort
        if observer.gain <= 0.0 or effort is None:
            observer.reset()
            return np.full((m, 3), np.nan)
        momentum, rate = self.model.momentum(state)
        external = observer.update(dt, momentum, rate, effort)
        chosen = np.flatnonzero(self._tracker.closed)
        if not observer.settled or not chosen.size:
            return np.full((m, 3), np.nan)
        response = (rows @ np.linalg.solve(problem.mass, external)).reshape(-1)
        force = contact_forces(self._modes.delassus, response, _WIDTH, chosen)
        return force[:, :1] * self._normals + force[:, 1:2] * self._tangents[:, 0] + force[:, 2:] * self._tangents[:, 1]

    def _validity(self, trusted: bool, code: int, forces_known: NDArray[np.bool_]) -> Validity:
        valid = Validity.STATE | Validity.BASE
        if trusted:
            valid |= Validity.EFFORT
            if code == Status.SOLVED and not self._tracker.touching.any():
                valid |= Validity.MODE_UNIQUE
        if forces_known.all():
            valid |= Validity.FORCES
        if self._observer.settled:
            valid |= Validity.FORCE_ESTIMATE
        return valid


def force_validity(trusted: bool, code: int, touching: Codes) -> NDArray[np.bool_]:
    """(m,) whether a contact's force satisfies the contact laws: it does not touch, or efforts are ``trusted`` and a
    mode was found."""
    return (touching == 0) | (trusted and code == Status.SOLVED)
