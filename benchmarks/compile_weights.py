"""Measures how long each kernel takes to compile, and writes ``hybrid_contact_ros/kernels/weights.py``.

Run ``python -m benchmarks.compile_weights`` after kernels that Python calls were added, renamed or merged; it takes a
minute. A fresh process with an empty cache warms an estimator of the Go2 for one part of a prediction after the other.
A kernel belongs to the first part that needs it. The figures are CPU seconds of one machine; what is shown to users is
their ratio.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.compile_time import ROOT, urdfs

_TEXT = '''"""CPU seconds that kernels take to compile, under the part of a prediction that needs them first.

Written by ``python -m benchmarks.compile_weights``. IMPACT needs besides what its samples need: EXACT those of the
inelastic law with known friction, MATERIAL all others. MESSAGES are the kernels of nodes.
"""

WEIGHTS: dict[str, dict[str, float]] = {table}
'''


def measured() -> dict[str, dict[str, float]]:
    """The kernels that each part needs, with CPU seconds. The cache of this process must be empty."""
    from hybrid_contact_ros import ContactEstimator, EstimatorConfig, Parts, RigidBodyModel
    from hybrid_contact_ros.kernels import compiling
    from hybrid_contact_ros.messages.warming import warm as warm_messages

    found: dict[str, float] = {}
    before: Callable[..., Any] = compiling._Door.compile

    def timed(door: Any, signature: Any) -> Any:
        begin = time.thread_time()
        try:
            return before(door, signature)
        finally:
            name = f"{door.py_func.__module__.split('.kernels.')[1]}.{door.py_func.__name__}"
            found[name] = round(found.get(name, 0.0) + time.thread_time() - begin, 2)

    compiling._Door.compile = timed
    table: dict[str, dict[str, float]] = {}

    def note(step: str) -> None:
        known = {name for kernels in table.values() for name in kernels}
        table[step] = {name: seconds for name, seconds in found.items() if name not in known}

    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    estimator = ContactEstimator(RigidBodyModel.from_urdf(urdfs(ROOT)["go2"], config), config)
    for part in (Parts.MODE, Parts.SEQUENCE, Parts.STABILITY, Parts.IMPACT, Parts.SENSITIVITY):
        estimator.warm(parts=Parts.MODE | part)
        note(str(part.name))
    config = replace(config, impact=replace(config.impact, law="poisson", restitution_margin=0.1))
    estimator = ContactEstimator(RigidBodyModel.from_urdf(urdfs(ROOT)["go2"], config), config)
    estimator.warm(parts=Parts.IMPACT)
    note("MATERIAL")
    table["EXACT"] = {name: table["IMPACT"].pop(name) for name in ("impacts.sampling.sample_batch",)}
    with compiling.undisturbed():
        warm_messages()
    note("MESSAGES")
    return table


def write() -> None:
    if "HYBRID_CONTACT_CACHE_OF_WEIGHTS" not in os.environ:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"HYBRID_CONTACT_CACHE": cache, "HYBRID_CONTACT_CACHE_OF_WEIGHTS": "1"}
            subprocess.run([sys.executable, "-m", "benchmarks.compile_weights"], cwd=ROOT, env=environment, check=True)
        return
    text = _TEXT.replace("{table}", repr(measured()))
    path = ROOT / "hybrid_contact_ros" / "kernels" / "weights.py"
    path.write_text(
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "-"], input=text, capture_output=True, text=True, check=True
        ).stdout
    )


if __name__ == "__main__":
    write()
