"""An impact example from a paper: the problem at the impact, and how the paper samples it."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.mechanics.problem import ContactProblem


@dataclass(frozen=True, slots=True)
class ImpactExample:
    """A contact problem just before an impact.

    Attributes:
        problem: the contact problem, whose velocity is v⁻.
        step: largest impulse increment of a contact, N s (Halm, Algorithm 1).
        max_steps: N of Halm, Algorithm 1.
        samples: M of Halm, Algorithm 2, as in the paper.
    """

    problem: ContactProblem
    step: float
    max_steps: int
    samples: int
