"""What a plot shows, said without the library that draws it: the page in the browser and the figures for papers are
drawn from the same records.

Times are seconds from the first state of the recording. ``colour`` is an index into the palette of whoever draws, or
the name of a meaning: "truth", "wrong", "warning", "good", "muted".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Colour = int | str


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """y (n,) over x (n,), NaN where it is interrupted. ``dashed`` for what is less sure or a bound."""

    name: str
    x: Array
    y: Array
    colour: Colour = 0
    dashed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Between ``low`` and ``high`` (n,) over x (n,); NaN where there is none."""

    name: str
    x: Array
    low: Array
    high: Array
    colour: Colour = 0


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Stretches of time on a row of a panel with rows.

    Attributes:
        row: name of the row. part: (low, high) share of the row's height that a bar fills, 0 at its top.
        begins, ends: (k,) s, exact.
    """

    name: str
    row: str
    begins: Array
    ends: Array
    colour: Colour = 0
    part: tuple[float, float] = (0.1, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Marks at x, y (n,). ``marker``: "circle", "cross", "star", "square". ``text``: what each one is, or nothing."""

    name: str
    x: Array
    y: Array
    colour: Colour = 0
    marker: str = "circle"
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """``counts`` (k,) between ``edges`` (k + 1,)."""

    name: str
    edges: Array
    counts: Array
    colour: Colour = 0


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A closed polygon x, y (n,)."""

    name: str
    x: Array
    y: Array
    colour: Colour = 0


Item = Line | Band | Bars | Points | Histogram | Outline


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One plot.

    Attributes:
        key: name of its files and of its place in the page. title: a few words. caption: sentences that say what is
            drawn, in which unit, what a band means, where the truth comes from, and what is not calibrated.
        x_label, y_label: quantity with its unit; ``x_label`` is None where x is the time that all such panels share.
        items: what is drawn, the first at the bottom.
        rows: names of the rows from the top, for panels of :class:`Bars`.
        empty: why there is nothing to draw; "" where there is something.
        limits: least and greatest x (None: what is there) and y that are shown. log_x: logarithmic x axis.
    """

    key: str
    title: str
    caption: str
    y_label: str
    items: tuple[Item, ...] = ()
    x_label: str | None = None
    rows: tuple[str, ...] = ()
    empty: str = ""
    limits: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None)
    log_x: bool = False

    @property
    def over_time(self) -> bool:
        """Whether x is the time that all such panels share."""
        return self.x_label is None
