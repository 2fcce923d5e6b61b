"""The README shows the estimator, sets and the simulator in one page: its code runs in a checkout."""

from __future__ import annotations

import re

import numpy as np

from hybrid_contact_ros import ContactEstimator
from hybrid_contact_ros.impacts.velocity_set import VelocitySet
from hybrid_contact_ros.simulation.execution import ExecutionStatus


def test_the_python_of_the_readme_runs_in_a_checkout(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setattr(ContactEstimator, "warm", lambda self: None)  # minutes of a cold cache; what is used compiles
    (block,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(block, names)
    mode = names["prediction"].mode
    assert not mode.closed.any() and np.nanmin(mode.time_to_event) > 0.0
    assert isinstance(names["outcomes"], VelocitySet)
    assert names["execution"].status is ExecutionStatus.FINISHED and len(names["execution"].events) > 0
    assert "False" in capsys.readouterr().out
