"""The README of the systems shows how to write one's own: its code runs."""

import re

import pytest

from hybrid_contact_ros.simulation.execution import Execution, ExecutionStatus

BLOCKS = 2


@pytest.mark.parametrize("number", range(BLOCKS))
def test_the_systems_of_the_readme_bounce(root, number):
    text = (root / "hybrid_contact_ros" / "systems" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == BLOCKS
    names: dict = {}
    exec(blocks[number], names)
    execution = names["execution"]
    assert isinstance(execution, Execution)
    assert execution.status is ExecutionStatus.FINISHED
    assert len(execution.events) >= 2  # it lands and lands again
