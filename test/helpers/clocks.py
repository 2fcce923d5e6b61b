"""A clock that does not depend on the machine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hybrid_contact_ros.estimation import impact
from hybrid_contact_ros.impacts import sampler, velocity_set

UNIT_NS = 100  # of work, by this clock; less than is guessed before the first was measured


def clock_of_work(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that goes on by UNIT_NS for each unit of work (see ``kernels.sampling.work``) and stands still else: what
    a deadline cuts does not depend on the machine then, nor on what else it does."""
    shown = SimpleNamespace(ns=0)
    run = sampler.Sampler.run

    def counted(self, first, count, budget):
        worst, reached, spent = run(self, first, count, budget)
        shown.ns += int(UNIT_NS * spent)
        return worst, reached, spent

    monkeypatch.setattr(sampler.Sampler, "run", counted)
    for module in (sampler, velocity_set, impact):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter_ns=lambda: shown.ns))
    return shown
