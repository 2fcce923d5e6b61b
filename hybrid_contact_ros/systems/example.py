"""An impact example of a paper: the problem at the impact, and how the paper samples it."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.mechanics.problem import ContactProblem


@dataclass(frozen=True, slots=True)
class ImpactExample:
    """A contact problem just before an impact.

    Attributes:
        problem: with v⁻ as its velocity.
        step: largest impulse increment per contact h, N s (H Algorithm 1).
        max_steps: N of H Algorithm 1.
        samples: M of H Algorithm 2, as the paper used.
    """

    problem: ContactProblem
    step: float
    max_steps: int
    samples: int
