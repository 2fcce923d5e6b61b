"""What the estimator remembers from state to state, and the arrays of its compiled calls, made once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.beside import BesideContacts
from hybrid_contact_ros.estimation.contact_belief import belief_record, forget
from hybrid_contact_ros.estimation.effort_trust import EffortTrust
from hybrid_contact_ros.estimation.event_densities import density_memory, forget_densities, pause_densities
from hybrid_contact_ros.estimation.friction_memory import forget_friction, friction_bounds
from hybrid_contact_ros.estimation.ground import foot_stops, ground_map, stance_memory
from hybrid_contact_ros.estimation.stride_course import event_skill, forget_skill
from hybrid_contact_ros.kernels.estimation.contact_tracking import UNKNOWN
from hybrid_contact_ros.kernels.estimation.measure import Measurement
from hybrid_contact_ros.kernels.estimation.momentum_observer import ObserverMemory
from hybrid_contact_ros.kernels.estimation.rate_lines import COLUMNS as RATE_COLUMNS
from hybrid_contact_ros.kernels.estimation.stream_offsets import offset_memory
from hybrid_contact_ros.kernels.estimation.sure_events import NEVER
from hybrid_contact_ros.kernels.estimation.told_events import COLUMNS, LogMemory
from hybrid_contact_ros.kernels.estimation.update_records import (
    EngineOut,
    ListsOut,
    TrackerMemory,
    UpdateScratch,
)
from hybrid_contact_ros.kernels.estimation.update_steps import TANGENTS
from hybrid_contact_ros.kernels.modes.records import state_out
from hybrid_contact_ros.kernels.stability.pair_orders import BYTES, VECTORS

Array = NDArray[np.float64]
_WIDTH = 1 + TANGENTS
_CODES, _INDICES = np.uint8, np.int64


class Memory:
    """What is remembered of m contacts and nv coordinates: which contacts were closed and slid, the last mode, the
    recent course of loads and friction margins, the momentum observer, the events already told, how far efforts can
    be trusted, and what was learned of other sensors.

    The members are records of the kernels, which write them.
    """

    def __init__(
        self, contacts: int, nv: int, links: Sequence[str], trust: EffortTrust, beside: BesideContacts, friction: Array
    ) -> None:
        m = contacts
        self.configured = friction.copy()
        self.beside = beside
        self.offsets = offset_memory(m)
        self.trust = trust
        self.tracker = tracker_memory(m)
        self.mode = state_out(nv, m, TANGENTS)
        self.warm = np.zeros(1, dtype=_CODES)  # whether the last mode was solved
        self.lines = np.full((m, 2, 3), -1.0)
        self.rate_lines = np.full((m, RATE_COLUMNS), -1.0)
        self.observer = observer_memory(nv)
        self.log = log_memory(m)
        # All three are forgotten at the first state.
        self.stops, self.stance, self.footholds = foot_stops(m), stance_memory(m), ground_map()
        self.density = density_memory(m)
        self.friction = friction_bounds(m)
        forget_friction(self.friction, self.configured)
        # The belief reads the weights that the check of efforts has written.
        self.belief = belief_record(links, nv)._replace(weight=trust.memory.force_weight)
        self.skill = event_skill(m)

    def reset(self) -> None:
        """Forget all earlier states."""
        for record in (self.tracker, self.log):
            for array in record:
                array.fill(0)
        for evidence in (self.tracker.evidence, self.tracker.alone_evidence):
            evidence.fill(UNKNOWN)
        self.log.begun.fill(-1)
        forget(self.belief)
        forget_skill(self.skill)
        forget_densities(self.density)
        forget_friction(self.friction, self.configured)
        self.trust.reset()
        self.beside.reset()
        self.observer.age[1] = 0.0
        for array in self.offsets:
            array.fill(0.0)
        self.pause()

    def pause(self) -> None:
        """Forget what is worthless after a pause: the courses, the observer, and the mode to start from."""
        self.lines.fill(-1.0)
        self.rate_lines.fill(-1.0)
        self.observer.age[0] = -1.0
        self.warm.fill(0)
        self.log.waiting.fill(0)
        self.log.landed.fill(NEVER)
        pause_densities(self.density)
        self.trust.pause()


def tracker_memory(m: int) -> TrackerMemory:
    """All contacts are open until a state says otherwise."""
    return TrackerMemory(
        closed=np.zeros(m, dtype=_CODES),
        slipping=np.zeros(m, dtype=_CODES),
        evidence=np.full(m, UNKNOWN),
        seen=np.zeros(m),
        smooth=np.zeros((m, 3)),
        spread=np.zeros(m),
        alone=np.zeros(m, dtype=_CODES),
        alone_evidence=np.full(m, UNKNOWN),
    )


def observer_memory(nv: int) -> ObserverMemory:
    """The next state starts the observer."""
    return ObserverMemory(
        residual=np.zeros(nv),
        integral=np.zeros(nv),
        known=np.zeros(nv),
        drives_before=np.zeros(nv),
        age=np.array([-1.0, 0.0]),
    )


def log_memory(m: int) -> LogMemory:
    """Nothing was told."""
    return LogMemory(
        last_status=np.zeros(m, dtype=_CODES),
        calm=np.zeros(m, dtype=_INDICES),
        calm_gap=np.zeros(m),
        begun=np.full(m, -1, dtype=_INDICES),
        begun_gap=np.zeros(m),
        before=np.full(m, -1, dtype=_INDICES),
        struck=np.zeros(m, dtype=_INDICES),
        slowed=np.zeros(m, dtype=_INDICES),
        agreed=np.zeros((m, 4), dtype=_INDICES),
        told=np.zeros((m, 3), dtype=_INDICES),
        waiting=np.zeros((m, COLUMNS), dtype=_INDICES),
        landed=np.full(m, NEVER, dtype=_INDICES),
        sure=np.zeros((2 * m, COLUMNS), dtype=_INDICES),
    )


def measurement(m: int, nv: int) -> Measurement:
    """Memory for what one state says by itself."""
    n = m * _WIDTH
    velocity = np.zeros((m, _WIDTH))
    return Measurement(
        L=np.zeros((nv, nv)),
        half=np.zeros((n + 1, nv)),
        G=np.zeros((n, n)),
        unforced=np.zeros(n),
        no_drift=np.zeros(n),
        contact_velocity=velocity,
        flat_velocity=velocity.reshape(n),
        gap_velocity=np.zeros(m),
        tangential=np.zeros((m, 3)),
        slip_speed=np.zeros(m),
        gap_sigmas=np.zeros(m),
        velocity_sigmas=np.zeros(m),
        momentum=np.zeros(nv),
        rate=np.zeros(nv),
    )


def update_scratch(m: int, nv: int) -> UpdateScratch:
    """Scratch of one update."""
    n = m * _WIDTH
    return UpdateScratch(
        basis=np.zeros((n, nv)),
        values=np.zeros(n),
        touching=np.zeros(m, dtype=_CODES),
        sliding=np.zeros((m, TANGENTS)),
        load=np.zeros(m),
        b=np.zeros(n),
        weighed=np.zeros((2, m, _WIDTH)),
        slip_acceleration=np.zeros(m),
        expected=np.zeros((m, 2, 3)),
        estimates=np.zeros((2, 3)),
        vectors=np.zeros((2, max(n, nv))),
        bytes=np.zeros((4, m), dtype=_CODES),
        integers=np.zeros((2, m), dtype=_INDICES),
        directions=np.zeros((m, TANGENTS)),
        phi=np.zeros(m),
        flats=np.zeros((4, n)),
        chain=np.zeros((VECTORS, n)),
        chain_matrix=np.zeros((n, n)),
        chain_bytes=np.zeros((BYTES, m), dtype=_CODES),
        motions=np.zeros((n, nv)),
        products=np.zeros((n, n)),
        weighing=np.zeros((nv, nv)),
    )


def engine_out(m: int) -> EngineOut:
    """Nothing is foretold."""
    return EngineOut(backed=np.zeros(m, dtype=_CODES), event_times=np.full((m, 3), np.nan))


def lists_out(m: int, rollout_events: int) -> ListsOut:
    """Room for the lists of one update."""
    return lists_in(lists_block(m, rollout_events), m, rollout_events)


def lists_block(m: int, rollout_events: int) -> NDArray[np.uint8]:
    """Room for the lists of one update in one block, which is copied in one go."""
    return np.zeros(_list_places(m, rollout_events)[-1][2], dtype=_CODES)


def lists_in(block: NDArray[np.uint8], m: int, rollout_events: int) -> ListsOut:
    """The lists in a block, as views of it."""
    places = _list_places(m, rollout_events)
    return ListsOut(*(block[begin:end].view(kind).reshape(shape) for kind, begin, end, shape in places))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _list_places(m: int, rollout_events: int) -> tuple[tuple[type, int, int, tuple[int, ...]], ...]:
    """Type, first and last byte and shape of each of the lists; each begins at a whole number of eight bytes."""
    k, pairs = rollout_events, m * (m - 1) // 2
    lists: dict[str, tuple[type, tuple[int, ...]]] = {
        "sequence_contacts": (_INDICES, (k,)),
        "sequence_kinds": (_CODES, (k,)),
        "sequence_times": (np.float64, (k, 3)),
        "sequence_modes": (_INDICES, (k,)),
        "events": (_INDICES, (2 * m, COLUMNS)),
        "pair_contacts": (np.uint32, (2, pairs)),
        "pair_couplings": (np.float64, (pairs,)),
        "pair_flags": (_CODES, (pairs,)),
        "pair_margins": (np.float64, (pairs,)),
    }
    places, begin = [], 0
    for kind, shape in map(lists.__getitem__, ListsOut._fields):
        end = begin + math.prod(shape) * np.dtype(kind).itemsize
        places.append((kind, begin, end, shape))
        begin = end + -end % 8
    return tuple(places)
