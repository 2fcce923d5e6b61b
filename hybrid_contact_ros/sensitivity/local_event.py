"""An event of one contact as the local maps take it: where, when, to which contact, and out of which mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set, finite, not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.contact_mode import RESTING, ContactMode
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient
from hybrid_contact_ros.sensitivity.massless import limb_gradient, limb_problem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LocalEvent:
    """An event of one contact.

    Attributes:
        system: as for ``simulate``; its forces are told the mode. q, v: at the event, v before it.
        contact: that it happens to. before: the mode before it, with the direction of a slip that has come to rest.
        time: s, for forces that depend on it. resting: m/s, a slower contact is at rest.
    """

    system: Any
    q: Array
    v: Array
    contact: int
    before: ContactMode
    time: float = 0.0
    resting: float = RESTING

    def gradient(self, after: ContactMode | None = None) -> ProblemGradient:
        """The contact problem before the event, with its derivatives.

        Raises:
            ValueError: v has another size than M, ``resting`` or ``time`` makes no sense, or the contact, the mode
                before or the mode ``after`` names contacts that do not exist.
        """
        not_negative(resting=self.resting)
        finite(time=self.time)
        here = limb_gradient(self.system, self.q, self.v, self.time, self.before.closed)
        problem = here.problem
        if self.v.shape != (problem.nv,):
            raise ValueError(f"v has shape {self.v.shape}; ({problem.nv},) is needed")
        named = {self.contact} | self.before.closed | self.before.sliding
        known = named if after is None else named | after.closed | after.sliding
        if min(known) < 0 or max(known) >= problem.contacts:
            contact_set("contacts", [self.contact], problem.contacts)
            contact_set("before", self.before.closed | self.before.sliding, problem.contacts)
            contact_set("after", known - named, problem.contacts)
        return here

    def problem(self, mode: ContactMode, v: Array | None = None, time: float | None = None) -> ContactProblem:
        """The contact problem in another mode, at another velocity or time."""
        then, moving = self.time if time is None else time, self.v if v is None else v
        return limb_problem(self.system, self.q, moving, then, mode.closed)
