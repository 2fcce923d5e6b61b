"""Which contacts hold, by the evidence of the measured states: gaps, gap velocities, loads and slip speeds."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.stance import FLIES

_OPEN, _STICKING, _SLIPPING = int(ContactStatus.OPEN), int(ContactStatus.STICKING), int(ContactStatus.SLIPPING)
# Log-likelihood ratio at which a contact changes: noise alone reaches it about once in e^6 = 400 states (Page 1954).
ENOUGH = 6.0
BELIEVED = 0.5
"""The least weight of efforts with which they alone decide anything, where nothing can be decided by parts."""
UNKNOWN = -1.0  # the evidence before the first state
_IDLE = 1e-6  # A load below this part of force_on is the rounding of none.
_SPREAD_GAIN = 0.1  # The noise is averaged over the inverse of this many times as many states as the velocity.
_RESTS, _REST_NOISES = 0.02, 4.0  # m/s, deviations: what approaches faster has not been stopped
_GIVES_WAY = 0.1  # s after an impact, in which a leg may give way that nothing is known of
_SPREAD_MOST = 9.0  # A square is at most this many times what is known of it: a foot that is flung is not noisy.
# A contact that just closed slips if its mean velocity exceeds this many of its standard deviations.
_SLIP_SIGMAS = 4.0
_LANDING = 0.9  # share of a full average, until which a contact has just closed


@kernel
def candidates(
    # constants:
    gap_on, gap_off, told, velocity_tolerance, rate_off,
    # problem:
    closed, gap, rate, noise, slide, stopped,
    # out:
    touching,
):  # fmt: skip
    """Contacts near enough to the surface, and slow enough, to carry force.

    A contact that was closed stays a candidate up to ``gap_off``, however fast: one state does not open it. One that
    was open becomes one below ``gap_off`` once it is at rest, within ``velocity_tolerance`` and the noise of its rate,
    since something may have stopped it where the plane is not quite where the map has it, which its load or the belief
    decides. Where neither tells, a sole that is lifted or comes down slowly looks the same, and it becomes one below
    ``gap_on`` only; what stands higher is found by its stillness (:mod:`.stance`), and what swings past, low over the
    surface, touches nothing, unless an impact has stopped it. Below ``gap_on`` it becomes one while it moves away no
    faster than that, or while it approaches and its gap is gone. (While it approaches faster and has a gap, nothing has stopped it yet.)

    Args:
        gap_on: m. gap_off: (m,), m. told: whether loads or a belief tell. velocity_tolerance: m/s. rate_off: (m,),
            m/s, of a gap that grows; the tolerance or more.
        closed: (m,) uint8, of the state before.
        gap: φ (m,), m. rate: φ̇ (m,), m/s, and its ``noise`` (m,). slide: speed along the surface (m,), m/s. stopped:
            (m,), s since an impact stopped the contact (:mod:`.foot_stops`), negative where none did.
        touching: out (m,) uint8.
    """
    for i in range(gap.shape[0]):
        reach = gap_off[i] if closed[i] or told else min(gap_on, gap_off[i])
        near = gap[i] <= reach and (closed[i] or rate[i] <= rate_off[i])
        if near and not closed[i] and rate[i] < -min(velocity_tolerance, max(_RESTS, _REST_NOISES * noise[i])):
            near = gap[i] <= min(gap_on, 0.0)
        if not closed[i] and not told and slide[i] > FLIES and stopped[i] < 0.0:
            near = False
        touching[i] = 1 if near else 0


@kernel
def slips(
    # constants:
    slip_on, slip_off, time_constant, velocity_sigma, tangents,
    # problem:
    dt, closed, weight, rate_noise, stopped, tangential,
    # memory:
    slipping, seen, smooth, spread,
    # out:
    sliding,
):  # fmt: skip
    """Tell stick from slip, before forces are known.

    The low-passed velocity of the contact point decides. It is averaged as a vector, so that the noise of a contact at
    rest averages out and does not add up. The average of a contact that has just closed is over few states: such a
    contact slips only if it is faster than ``slip_on`` and than the uncertainty of its average, now as well as in the
    mean: an impact stops what it does not set sliding.

    Args:
        slip_on, slip_off: speeds (m/s) above which a contact starts, and below which it ceases, to slip.
        time_constant: of the low-pass, s. velocity_sigma: of one state, m/s.
        tangents: (m, 2, 3), unit vectors, world frame.
        dt: since the last state, s. closed: (m,) uint8, of the state before. weight: (m,), of the contact's efforts.
        rate_noise: (m,), m/s, of the gap's rate as it was measured (:mod:`.rate_noise`): where efforts are not
            believed, a contact that speeds up may be a foot that has left, and only what is no larger is noise.
        stopped: (m,), s, since an impact stopped the contact (:mod:`.foot_stops`), negative where none did: such a leg
            may give way, and the foot be where it was.
        tangential: velocity along the surface (m, 3), m/s, world frame.
        slipping: in and out (m,) uint8. seen: in and out (m,), states in the average. smooth: in and out (m, 3), the
            average, m/s. For an open contact these are of this state alone, and the average begins with the next one.
        spread: in and out (m,), (m/s)²: mean square, per direction, of the difference between single states and the
            average, of closed contacts. It is the noise of this robot that ``velocity_sigma`` misses.
        sliding: out (m, 2), the average along the tangents, m/s; zero where a contact does not slip.
    """
    lag = math.exp(-max(dt, 0.0) / time_constant)
    for i in range(closed.shape[0]):
        if not closed[i]:
            seen[i] = 0.0
            slipping[i] = 0
        seen[i] = 1.0 + lag * seen[i]
        speed = 0.0
        apart = 0.0
        for k in range(3):
            apart += (tangential[i, k] - smooth[i, k]) ** 2
            smooth[i, k] += (tangential[i, k] - smooth[i, k]) / seen[i]
            speed += smooth[i, k] ** 2
        if closed[i]:
            if weight[i] >= BELIEVED:
                least = spread[i]
            elif 0.0 <= stopped[i] <= _GIVES_WAY:
                least = math.inf
            else:
                least = rate_noise[i] * rate_noise[i]
            most = _SPREAD_MOST * max(velocity_sigma * velocity_sigma, least)
            spread[i] = min(spread[i] + (1.0 - lag) * _SPREAD_GAIN * (min(0.5 * apart, most) - spread[i]), most)
        doubt = _SLIP_SIGMAS * math.sqrt(max(velocity_sigma * velocity_sigma, spread[i]) / (2.0 * seen[i] - 1.0))
        starts = max(slip_on, doubt)
        now = math.sqrt(tangential[i, 0] ** 2 + tangential[i, 1] ** 2 + tangential[i, 2] ** 2)
        landing = closed[i] and (1.0 - lag) * seen[i] < _LANDING and now <= starts
        slipping[i] = 1 if math.sqrt(speed) > (slip_off if slipping[i] else starts) and not landing else 0
        if not closed[i]:
            seen[i] = 0.0  # what moved in the air, or is being stopped now, is no part of a slide
        for k in range(2):
            total = 0.0
            for j in range(3):
                total += tangents[i, k, j] * smooth[i, j]
            sliding[i, k] = total if slipping[i] else 0.0


@kernel
def contact_statuses(
    # constants:
    gap_on, velocity_tolerance, rate_off, force_on, force_off, force_sigma, velocity_sigma,
    # problem:
    weight, touching, gap, rate, load,
    # memory:
    slipping, closed, evidence,
    # out:
    status,
):  # fmt: skip
    """:func:`track_closed`, and the ``status`` (m,) uint8, values of ContactStatus; ``slipping`` (m,) uint8 is cleared
    where a contact is open."""
    track_closed(
        gap_on, velocity_tolerance, rate_off, force_on, force_off, force_sigma, velocity_sigma, weight, touching, gap,
        rate, load, closed, evidence,
    )  # fmt: skip
    told_statuses(closed, slipping, status)


@kernel
def track_closed(
    # constants:
    gap_on, velocity_tolerance, rate_off, force_on, force_off, force_sigma, velocity_sigma,
    # problem:
    weight, touching, gap, rate, load,
    # memory:
    closed, evidence,
):  # fmt: skip
    """Close, keep or open each contact: a sequential test of closed against open (Page's cumulative sum).

    Each state adds to ``evidence`` the logarithm of a likelihood ratio: how much better the state agrees with the
    status that the contact does not have than with the one that it has. The sum never falls below zero, and the contact
    changes where it reaches ``ENOUGH``. Plain states decide in one step, noisy ones in as many as they need; one state
    that could be noise never decides alone.

    - A closed contact is contradicted by a load below ``force_off`` and by a gap that grows faster than
      ``velocity_tolerance``. (The ratio compares loads above and below ``force_off`` by ``force_on``, or by
      ``force_sigma`` if that is more.)
    - An open candidate is contradicted by a load above ``force_off``; it closes at once while it is still being
      stopped.
    - A contact that is no candidate (:func:`candidates`) is open.
    - Loads count as much as the ``weight`` of their efforts; without any, candidates are closed until their gap grows.
    - Where a body at rest stands on several points, the model's forces are not unique: the other points can carry all.
      A point that gets no force and has nowhere to go either is *idle*. Nothing contradicts an idle contact that is
      closed, and one that is open closes below ``gap_on``, where no sensor could tell it from those that hold its body.

    Args:
        gap_on: m. velocity_tolerance: m/s. rate_off: (m,), m/s. force_on, force_off: N.
        force_sigma: N, velocity_sigma: (m,), m/s; standard deviations of one state.
        weight: (m,), from 1, efforts are trusted, to 0, they were not measured or are ignored.
        touching: (m,) uint8, of :func:`candidates`. gap: φ (m,), m. rate: φ̇ (m,), m/s.
        load: (m,), N; the model's normal force, or, where that is zero, minus the force that would have to pull to keep
            the gap from opening.
        closed: in and out (m,) uint8.
        evidence: in and out (m,), until the next call against the status that the contact had before this one.
            ``UNKNOWN`` before the first state, for which a load of ``force_on`` alone decides.
    """
    for i in range(load.shape[0]):
        fast = rate[i] - rate_off[i]
        push = max(force_on, force_sigma) / (force_sigma * force_sigma)
        idle = abs(load[i]) < _IDLE * force_on
        if closed[i]:
            gain = 0.0
            if not touching[i]:
                gain = ENOUGH
            elif fast > 0.0:
                gain = 2.0 * fast * rate_off[i] / (velocity_sigma[i] * velocity_sigma[i])
            elif weight[i] > 0.0 and rate[i] >= -velocity_tolerance:  # other forces than a mode's stop a contact
                gain = weight[i] * (-ENOUGH if idle else 2.0 * (force_off - load[i]) * push)
        elif not touching[i]:
            gain = -ENOUGH
        elif weight[i] <= 0.0 or rate[i] < -velocity_tolerance:
            gain = ENOUGH
        else:
            told = 2.0 * (load[i] - force_off) * push
            if idle:
                told = ENOUGH if gap[i] <= gap_on else 0.0
            gain = weight[i] * told + (1.0 - weight[i]) * ENOUGH
        if evidence[i] < 0.0:  # the first state: nothing is known yet that evidence would have to outweigh
            evidence[i] = 0.0
            loaded = gain >= ENOUGH or (weight[i] >= BELIEVED and not idle and load[i] >= force_on)
            closed[i] = 1 if touching[i] and loaded else 0
        else:
            if evidence[i] >= ENOUGH:  # the contact changed: what comes now speaks for or against the new status
                evidence[i] = 0.0
            evidence[i] = min(max(evidence[i] + gain, 0.0), ENOUGH)
            if evidence[i] >= ENOUGH:
                closed[i] = 0 if closed[i] else 1


@kernel
def told_statuses(closed, slipping, status):
    """Write the status (m,) of contacts that are known to be ``closed`` or not; clear ``slipping`` of open ones."""
    for i in range(status.shape[0]):
        if closed[i]:
            status[i] = _SLIPPING if slipping[i] else _STICKING
        else:
            slipping[i] = 0
            status[i] = _OPEN
