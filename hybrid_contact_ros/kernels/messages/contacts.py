"""The numbers of a ``ContactMode`` into the bytes of its message."""

from __future__ import annotations

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.kernels.compiling import kernel

_STICKING = int(ContactStatus.STICKING)


@kernel
def write_contact_mode(
    # places: indices into numbers and words, into octets, and into halves
    mode_at,
    contact_words,
    contact_octets,
    transition_words,
    transition_octets,
    transition_halves,
    # contacts
    probability_valid,
    bounds_valid,
    status,
    probability,
    position,
    normal,
    gap,
    gap_velocity,
    tangential_velocity,
    force_model,
    force_valid,
    force_estimate,
    friction_coefficient,
    friction_margin,
    critical_friction,
    next_event,
    time_to_event,
    earliest,
    latest,
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
    """Write all that differs between two messages of one layout, but for head and tail.

    Args:
        mode_at: of the bit mask. contact_words (m, 24), contact_octets (m, 5): of the numbers and of the flags of each
            contact, in the order of the message. transition_words (k, 4), transition_octets (k, 2), transition_halves
            (k,): of each transition.
        probability_valid … latest: as of :class:`~hybrid_contact_ros.prediction.ModePrediction`.
        sequence_bounds_valid … mode_after: as of :class:`~hybrid_contact_ros.prediction.ModeSequence`.
        octets, halves, words, numbers: out, the message's memory as uint8, uint32, int64 and float64.
    """
    mask = 0
    for i in range(status.shape[0]):
        if status[i] >= _STICKING:
            mask |= 1 << i
        at, flag = contact_words[i], contact_octets[i]
        octets[flag[0]] = status[i]
        octets[flag[1]] = probability_valid
        octets[flag[2]] = force_valid[i]
        octets[flag[3]] = next_event[i]
        octets[flag[4]] = bounds_valid
        numbers[at[0]] = probability[i]
        for k in range(3):
            numbers[at[1 + k]] = position[i, k]
            numbers[at[4 + k]] = normal[i, k]
            numbers[at[9 + k]] = tangential_velocity[i, k]
            numbers[at[12 + k]] = force_model[i, k]
            numbers[at[15 + k]] = force_estimate[i, k]
        numbers[at[7]] = gap[i]
        numbers[at[8]] = gap_velocity[i]
        numbers[at[18]] = friction_coefficient[i]
        numbers[at[19]] = friction_margin[i]
        numbers[at[20]] = critical_friction[i]
        numbers[at[21]] = time_to_event[i]
        numbers[at[22]] = earliest[i]
        numbers[at[23]] = latest[i]
    words[mode_at] = mask
    for i in range(contact.shape[0]):
        halves[transition_halves[i]] = contact[i]
        octets[transition_octets[i, 0]] = kind[i]
        octets[transition_octets[i, 1]] = sequence_bounds_valid
        for k in range(3):
            numbers[transition_words[i, k]] = times[i, k]
        words[transition_words[i, 3]] = mode_after[i]
