"""The numbers of a ``ContactMode`` into the bytes of its message."""

from __future__ import annotations

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.kernels.compiling import kernel

_STICKING = int(ContactStatus.STICKING)
_STAMP, _MASK, _VALIDITY, _RESIDUAL, _COMPUTE, _AGE = range(6)


@kernel
def write_contact_mode(
    # places: indices into words and numbers, into octets, and into halves
    single,
    contact_words,
    contact_octets,
    transition_words,
    transition_octets,
    transition_halves,
    # where the numbers of contacts come from
    floats_from,
    codes_from,
    # the whole state
    stamp,
    validity,
    residual,
    compute_time,
    input_age,
    # contacts
    probability_valid,
    bounds_valid,
    floats,
    codes,
    # sequence
    sequence_bounds_valid,
    contact,
    kind,
    times,
    mode_after,
    # out: one memory as numbers of four types
    octets,
    halves,
    words,
    numbers,
):
    """Write all that differs between two messages of one layout.

    Args:
        single: (6,), of stamp, bit mask, validity, residual, compute time and input age. contact_words (m, 36),
            contact_octets (m, 7): of the numbers and of the flags of each contact, in the order of the message.
            transition_words (k, 4), transition_octets (k, 2), transition_halves (k,): of each transition.
        floats_from (m, 36), codes_from (m, 6): where the numbers are in ``floats``, and status, force_valid,
            next_event, bounds_valid, slip_warning and density_valid in ``codes``.
        stamp, compute_time, input_age: ns, of less than 68 years, as messages hold them.
        floats, codes: the arrays of a :class:`~hybrid_contact_ros.prediction.ModePrediction`, one behind the other.
        sequence_bounds_valid … mode_after: as of :class:`~hybrid_contact_ros.prediction.ModeSequence`.
        octets, halves, words, numbers: out, the message's memory as uint8, uint32, int64 and float64.
    """
    mask = 0
    for i in range(contact_words.shape[0]):
        status = codes[codes_from[i, 0]]
        if status >= _STICKING:
            mask |= 1 << i
        flag = contact_octets[i]
        octets[flag[0]] = status
        octets[flag[1]] = probability_valid
        octets[flag[2]] = codes[codes_from[i, 1]]
        octets[flag[3]] = codes[codes_from[i, 2]]
        octets[flag[4]] = 1 if bounds_valid or codes[codes_from[i, 3]] else 0
        octets[flag[5]] = codes[codes_from[i, 5]]
        octets[flag[6]] = codes[codes_from[i, 4]]
        for k in range(contact_words.shape[1]):
            numbers[contact_words[i, k]] = floats[floats_from[i, k]]
    words[single[_MASK]] = mask
    for i in range(contact.shape[0]):
        halves[transition_halves[i]] = contact[i]
        octets[transition_octets[i, 0]] = kind[i]
        octets[transition_octets[i, 1]] = sequence_bounds_valid
        for k in range(3):
            numbers[transition_words[i, k]] = times[i, k]
        words[transition_words[i, 3]] = mode_after[i]
    halves[single[_VALIDITY]] = validity
    numbers[single[_RESIDUAL]] = residual
    _write_time(halves, single[_STAMP], stamp)
    _write_time(halves, single[_COMPUTE], compute_time)
    _write_time(halves, single[_AGE], input_age)


@kernel
def _write_time(halves, at, nanoseconds):
    """Write seconds and nanoseconds of a time, which is one that a message can hold."""
    seconds = nanoseconds // 1_000_000_000
    halves[at] = seconds
    halves[at + 1] = nanoseconds - seconds * 1_000_000_000
