"""Which contacts are drawn one by one, and what is said of those that are not."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.reporting.record import Record

MOST_CONTACTS = 8
"""Contacts that have lines of their own; of more, those that change most often are drawn."""


def drawn_contacts(record: Record) -> list[int]:
    """Indices of the contacts that have lines of their own."""
    m = len(record.contacts)
    if m <= MOST_CONTACTS:
        return list(range(m))
    changes = np.sum(record.closed[1:] != record.closed[:-1], axis=0)
    return sorted(np.argsort(-changes, kind="stable")[:MOST_CONTACTS].tolist())


def of_many(record: Record, shown: list[int]) -> str:
    """The end of a caption where not all contacts are drawn."""
    left = len(record.contacts) - len(shown)
    return f" Of {len(record.contacts)} contacts, those {len(shown)} that change most often are drawn." if left else ""


def absent(table: str, name: str) -> str:
    """Why a panel is empty whose column is not there."""
    return f"the result file has no {table}/{name}"
