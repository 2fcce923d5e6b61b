"""One contact mode that satisfies a predicate of the form of J 31, by principal pivoting instead of enumeration."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_PATIENCE = 5  # block steps that may fail to reduce the number of wrong contacts
_STEPS = 50  # per contact
_RESTARTS = 14


def pivot_to_mode(count: int, holds: Callable[[int, int], bool | None], kept: int = 0) -> tuple[list[int], bool]:
    """A mask J over ``count`` contacts with (k ∈ J) ⇔ holds(J ∪ {k}, k) for every k (J 31), if it is found.

    Block principal pivoting (Kostreva 1978; Júdice and Pires 1994): all contacts on the wrong side change it at once,
    as long as that reduces their number; then the last one alone (Murty 1974), which without friction and with regular
    M ends at the only mode. A step asks ``holds`` once a contact. In practice a handful of steps do, where enumeration
    takes 2^m; the worst case of the single changes is exponential, and 50 per contact are made at most. With friction
    there may be several modes, of which this finds one; where single changes come back to a mode, the search starts
    again from another, a few times, and may end without any.

    Args:
        holds: None where the mode has no block inverse, as for :func:`~.enumeration.modes_of`.
        kept: mask of contacts that J must contain: they never leave on the way, and must hold at its end.

    Returns:
        One mask, or none, and whether any ``None`` was met.
    """
    every, singular = (1 << count) - 1, False
    draw = Random(0)
    starts = [every, 0] + [draw.getrandbits(max(count, 1)) & every for _ in range(_RESTARTS)]
    for start in dict.fromkeys(mask | kept for mask in starts):
        mask, met = _descend(count, holds, kept, start)
        singular |= met
        if mask is not None:
            return [mask], singular
    return [], singular


def _descend(count: int, holds: Callable[[int, int], bool | None], kept: int, mask: int) -> tuple[int | None, bool]:
    """The mode that pivots from ``mask`` lead to, and whether any was singular."""
    fewest, patience, singular = count + 1, _PATIENCE, False
    seen: set[int] = set()
    for _ in range(_STEPS * count + 1):
        wrong = []
        for k in range(count):
            if kept >> k & 1:
                continue
            answer = holds(mask | 1 << k, k)
            singular |= answer is None
            if bool(answer) != bool(mask >> k & 1):
                wrong.append(k)
        if not wrong:
            held = all(holds(mask, k) for k in range(count) if kept >> k & 1)
            return (mask if held else None), singular
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        else:
            patience -= 1
        if patience <= 0 and mask in seen:  # single changes that come back will do so for ever
            break
        if patience <= 0:
            seen.add(mask)
        for k in wrong if patience > 0 else wrong[-1:]:
            mask ^= 1 << k
    return None, singular
