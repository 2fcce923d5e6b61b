"""The groups of arguments of :func:`~.update.update`: m contacts in space, n = 3 m rows, nv coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices

Bools = NDArray[np.bool_]


class UpdateSettings(NamedTuple):
    """The configuration; forces in N, lengths in m, times in s."""

    mode_steps: int  # of operator splitting at most, where an active set fails: of the mode,
    rollout_steps: int  # of the rollout,
    flag_steps: int  # and of the flags
    gap_on: float  # of ActivationConfig, as the members down to velocity_sigma
    gap_off: float
    velocity_tolerance: float
    slip_on: float
    slip_off: float
    force_on: float  # the load thresholds of this robot (tracker.load_thresholds), as the two below
    force_off: float
    load_sigma: float
    gap_sigma: float
    velocity_sigma: float
    acceleration_sigma: float
    force_sigma: float
    sigmas: float  # half-width of bounds, in standard deviations
    horizon: float  # of events
    rollout_horizon: float  # 0: no rollout
    gain: float  # of the observer, 1/s; 0: no observer
    force_tolerance: float  # of StabilityConfig, as the members below
    acceleration_tolerance: float
    grazing_speed: float
    duration: float
    coupling_tolerance: float
    restitution_margin: float  # of ImpactConfig
    mode_tolerance: float  # of the scaled residual of a mode,
    flag_tolerance: float  # and of one with a contact released; further off the flag is UNDECIDED
    floating_base: bool


class UpdateInput(NamedTuple):
    """What is asked for one state."""

    dt: float  # s since the state before; 0 for the first
    trusted: bool  # whether the actuation is known
    stamp: int  # ns
    last_stamp: int  # ns, of the state before
    first: bool  # whether there is none before
    elapsed: float  # s, from the origin of ``due`` to the stamp
    averaged: float  # s, for which errors of the velocity last at least
    flags_wanted: bool
    sequence_wanted: bool


class RobotContacts(NamedTuple):
    """Constants of the contacts."""

    normals: Array  # (m, 3), world frame
    tangents: Array  # (m, 2, 3)
    friction: Array  # (m,)
    restitution: Array  # (m,)


class UpdateProblem(NamedTuple):
    """The state's contact problem: members of ``ProblemOut``, ``RowsOut`` and ``Measured``."""

    bias: Array  # (nv,)
    effort: Array  # (nv,)
    rows: Array  # (m, 3, nv)
    flat_rows: Array  # (n, nv)
    gap: Array  # (m,)
    drift: Array  # in and out (m, 3): becomes the balanced drift
    position: Array  # (m, 3)
    due: Array  # (m, 2, 3), s after the rhythm's origin: next touchdown and liftoff of a steady gait


class TrackerMemory(NamedTuple):
    """What is remembered to tell which contacts are closed and slide (:mod:`.contact_tracking`)."""

    closed: Codes  # (m,)
    slipping: Codes  # (m,)
    evidence: Array  # (m,), against the status before; UNKNOWN before the first state
    seen: Array  # (m,)
    smooth: Array  # (m, 3)
    spread: Array  # (m,)
    alone: Codes  # (m,), what gaps and rates say by themselves, where the belief decides beside them;
    alone_evidence: Array  # (m,), as ``evidence``, of these


class UpdateScratch(NamedTuple):
    """Memory of one update, beside that of the mode solver; nothing in it is remembered."""

    basis: Array  # (n, nv) and values (n,): of balanced_drift
    values: Array
    touching: Codes  # (m,), contacts that the mode was solved for
    sliding: Array  # (m, 2), m/s
    load: Array  # (m,), N
    b: Array  # (n,), contact accelerations without contact forces, m/s²
    weighed: Array  # (2, m, 3): forces λ, N, zero where not trusted, and accelerations, m/s²
    slip_acceleration: Array  # (m,), m/s²
    expected: Array  # (m, 2, 3), due after the stamp
    estimates: Array  # (2, 3), of event times
    vectors: Array  # (2, max(n, nv))
    bytes: Codes  # (4, m)
    integers: Indices  # (2, m)
    directions: Array  # (m, 2)
    phi: Array  # (m,)
    flats: Array  # (4, n)
    chain: Array  # (VECTORS, n), chain_matrix (n, n) and chain_bytes (BYTES, m): of the orders of impacts
    chain_matrix: Array
    chain_bytes: Codes
    motions: Array  # (n, nv) and products (n, n), of contact_motions; where the actuation is known
    products: Array
    weighing: Array  # (nv, nv), of weigh_motions


class EngineOut(NamedTuple):
    """What the impact set of the touchdown ahead reads, beside the memory."""

    backed: Codes  # (m,), next event without the touchdowns that only the rhythm foretells
    event_times: Array  # (m, 3), s


class PredictionOut(NamedTuple):
    """The arrays of one prediction; :mod:`.update` numbers their rows."""

    vectors: Array  # (VECTORS, m, 3)
    numbers: Array  # (NUMBERS, m)
    codes: Codes  # (CODES, m)
    truths: Bools  # (2, m): force_valid, closed


class ListsOut(NamedTuple):
    """Lists of which the first few entries are filled: the sequence, events and pairs."""

    sequence_contacts: Indices  # (k,)
    sequence_kinds: Codes  # (k,)
    sequence_times: Array  # (k, 3), s
    sequence_modes: Indices  # (k,)
    events: Indices  # (2 m, COLUMNS)
    pair_contacts: NDArray[np.uint32]  # (2, m (m − 1) / 2)
    pair_couplings: Array  # (m (m − 1) / 2,)
    pair_flags: Codes  # (m (m − 1) / 2,)
    pair_margins: Array  # (m (m − 1) / 2,)


VECTORS = 5
POSITION, NORMAL, TANGENTIAL, FORCE_MODEL, FORCE_ESTIMATE = range(5)
NUMBERS = 30
(PROBABILITY, GAP, GAP_VELOCITY, GAP_ACCELERATION, FRICTION, FRICTION_MARGIN, CRITICAL, TIME, EARLIEST, LATEST,
 GROUND_OFFSET, GROUND_SIGMA, FORCE_WEIGHT) = range(13)  # fmt: skip
QUANTILES, EVENT_PROBABILITY = 13, 17  # four rows of quantiles
FRICTION_LOWER, FRICTION_UPPER, FRICTION_RATIO, TIME_TO_SLIP, MARGINS = range(18, 23)
ENDS = 28  # six margins, then the two ends of chatter
CODES = 12
STATUS, JAMMED, NEXT_EVENT, BOUNDS_VALID, SLIP_WARNING, DENSITY_VALID, FLAGS = range(7)  # six rows of flags
FORCE_VALID, STANDS = range(2)
