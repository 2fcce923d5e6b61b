"""One contact mode that satisfies a predicate of the form of Johnson (31), by pivoting instead of enumeration."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_FAILED_BLOCK_STEPS = 5  # block steps in a row that may fail to reduce the number of wrong contacts
_STEPS_PER_CONTACT = 50
_STRAY_SHARE = 0.1  # part of the steps of the walk that change a contact whether it is wrong or not


def pivot_to_mode(count: int, holds: Callable[[int, int], bool | None], kept: int = 0) -> tuple[list[int], bool]:
    """Find one mode over ``count`` contacts that satisfies Johnson (31), as a bit mask of its closed contacts.

    A mode satisfies it where every contact k has (k ∈ mode) ⇔ holds(mode ∪ {k}, k).

    Block principal pivoting (Kostreva 1978; Júdice and Pires 1994): all contacts on the wrong side change it at once,
    as long as that reduces their number; then the last one alone (Murty 1974), which without friction and with regular
    M ends at the only mode. A step asks ``holds`` once for each contact. In practice a handful of steps suffice, where
    enumeration takes 2^m; the worst case of the single changes is exponential, and at most 50 are made for each
    contact.

    With friction there may be several modes, of which this finds one, and single changes may go round in a circle.
    Where they do so from all contacts and from none, a random walk follows (as that of Papadimitriou 1991 for
    satisfiability): one contact on the wrong side changes sides, or at times any contact, for at most 50 steps for each
    contact. The walk may miss a mode; it did so in none of 5000 random problems (``benchmarks/modes_pivoting.py``).

    Args:
        holds: as of :func:`~.enumeration.modes_of`, None where the mode has no block inverse.
        kept: mask of contacts that the mode must contain: they never leave on the way, and must hold at its end.

    Returns:
        A list of one mask, or of none, and whether any ``None`` was met.
    """
    singular = False
    for start in dict.fromkeys(((1 << count) - 1, kept)):
        mask, met = _descend(count, holds, kept, start)
        singular |= met
        if mask is not None:
            return [mask], singular
    mask, met = _walk(count, holds, kept)
    return [] if mask is None else [mask], singular | met


def _descend(count: int, holds: Callable[[int, int], bool | None], kept: int, mask: int) -> tuple[int | None, bool]:
    """The mode that pivots from ``mask`` lead to, or None, and whether a mode without block inverse was met."""
    fewest, patience, singular = count + 1, _FAILED_BLOCK_STEPS, False
    seen: set[int] = set()
    for _ in range(_STEPS_PER_CONTACT * count + 1):
        wrong, met = _wrong(count, holds, kept, mask)
        singular |= met
        if not wrong:
            return (mask if _holds_all(count, holds, kept, mask) else None), singular
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _FAILED_BLOCK_STEPS
        else:
            patience -= 1
        if patience <= 0 and mask in seen:  # single changes that come back will do so for ever
            break
        if patience <= 0:
            seen.add(mask)
        for k in wrong if patience > 0 else wrong[-1:]:
            mask ^= 1 << k
    return None, singular


def _walk(count: int, holds: Callable[[int, int], bool | None], kept: int) -> tuple[int | None, bool]:
    """The mode that a random walk from all contacts leads to, or None, and whether one without inverse was met."""
    draw, mask, singular = Random(0), (1 << count) - 1, False
    free = [k for k in range(count) if not kept >> k & 1]
    for _ in range(_STEPS_PER_CONTACT * count):
        wrong, met = _wrong(count, holds, kept, mask)
        singular |= met
        if not wrong and _holds_all(count, holds, kept, mask):
            return mask, singular
        if not free:
            break
        mask ^= 1 << draw.choice(wrong if wrong and draw.random() > _STRAY_SHARE else free)
    return None, singular


def _wrong(count: int, holds: Callable[[int, int], bool | None], kept: int, mask: int) -> tuple[list[int], bool]:
    """The contacts, other than the kept ones, on the wrong side in a mode, and whether one without inverse was met."""
    answers = {k: holds(mask | 1 << k, k) for k in range(count) if not kept >> k & 1}
    wrong = [k for k, answer in answers.items() if bool(answer) != bool(mask >> k & 1)]
    return wrong, None in answers.values()


def _holds_all(count: int, holds: Callable[[int, int], bool | None], kept: int, mask: int) -> bool:
    """Whether all contacts of ``kept`` hold in a mode."""
    return all(holds(mask, k) for k in range(count) if kept >> k & 1)
