"""The palette of the page and of the figures."""

from __future__ import annotations

from hybrid_contact_ros.reporting.panels import Colour

_PALETTE = ("#1f77b4", "#1b9e77", "#7a5cc0", "#d6559f", "#8c8c1a", "#a6761d", "#17a2b8", "#5b7083")
_MEANING = {"truth": "#3c4043", "wrong": "#d62728", "warning": "#f59f00", "good": "#37a05b", "muted": "#9aa0a6"}


def colour(which: Colour) -> str:
    """The colour of an item as #rrggbb. "truth" is for a light page; a dark one has a light truth."""
    return _MEANING[which] if isinstance(which, str) else _PALETTE[which % len(_PALETTE)]
