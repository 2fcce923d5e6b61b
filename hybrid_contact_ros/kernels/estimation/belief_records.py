"""The records that the filter of beliefs is given: what was configured, and what one state says."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices


class BeliefSettings(NamedTuple):
    """``BeliefConfig`` and what comes of the robot; lengths in m, times in s, rates in 1/s."""

    gap_sigma: float  # m, of the surface where nobody has been, beside the gap's own
    swing_height: float  # m, mean gap of an open contact
    sunk: float  # share of closed contacts below the surface by more than noise
    swing_speed: float  # m/s, standard deviation of an open contact's gap velocity
    swing_slide: float  # m/s, the same along the surface, per direction
    slip_speed: float  # m/s, the same of a slipping one
    rest_speed: float  # m/s, of a closed contact, beside the noise
    load_sigma: float  # N, of the model's load
    load_limit: float  # N, a load that is as likely open as closed
    slip_sigma: float  # N, the same two of a contact that slips
    slip_limit: float
    force_part: float  # standard deviation of an observed force beside its noise, as a part of the share of the weight,
    # until it is known (:mod:`.landed_forces`)
    share: float  # N, of the weight that each contact carries when all do
    outliers: float  # share of states that nothing explains
    gap_correlation: float  # s
    velocity_correlation: float
    load_correlation: float
    force_correlation: float
    touchdown_rate: float  # 1/s, without any prediction
    liftoff_rate: float
    slip_rate: float
    stick_rate: float
    foresight: float  # share of predictions that come true
    foresight_sigma: float  # s, of a predicted time, beside its bounds
    sigmas: float  # half-width of those bounds in standard deviations


class BeliefInput(NamedTuple):
    """What a state says of m contacts."""

    dt: float  # s since the state before
    first: bool  # whether there is none
    trusted: bool  # whether the actuation is known
    observed: bool  # whether ``force`` is there
    touching: Codes  # (m,) uint8, contacts that the model's mode was solved for
    gap: Array  # (m,), m
    gap_sigmas: Array  # (m,), m
    surfaces: Array  # (m,), m, of the surface
    own: Array  # (m,), m, of the surface as of :func:`~.own_ground.known_surfaces`
    rate: Array  # (m,), m/s, of the gap
    rate_sigmas: Array  # (m,), m/s
    spread: Array  # (m,), (m/s)², measured noise of the velocity of closed contacts
    slide: Array  # (m,), m/s, speed along the surface
    quiet: Array  # (m,), (m/s)², by which rates of a contact that rests vary less than that (:mod:`.unrest`)
    load: Array  # (m,), N, of the model's mode
    force: Array  # (m,), N, observed normal forces if all contacts could push
    force_covariance: Array  # (m, m), N²
    doubt: Array  # (m,), N², the part of it that is of wrong efforts, which loads have as well
    force_weight: Array  # (m,), in [0, 1], of load and force
    stood: Codes  # (m,) uint8, contacts that were closed with the state before
    late: float  # s, by which forces are for certain, as their efforts are
    link_of: Indices  # (m,) int64, constant: the first contact of the same link and plane
