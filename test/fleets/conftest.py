"""What tests of fleets share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="distributed is not there: pip install 'hybrid_contact_ros[fleet]'")
pytest.importorskip("pyarrow", reason="pyarrow is not there: pip install 'hybrid_contact_ros[fleet]'")
pytest.importorskip("fsspec", reason="fsspec is not there: pip install 'hybrid_contact_ros[fleet]'")

from helpers.fleets import STREAMS, TRUTH
from hybrid_contact_ros.fleets.job import Task
from hybrid_contact_ros.fleets.run import cluster
from hybrid_contact_ros.recordings.write import write_recording


@pytest.fixture
def bags(fall, tmp_path) -> Path:
    """Six falls of different heights below a folder for each of two robots."""
    folder = tmp_path / "bags"
    for k in range(6):
        lifted = replace(fall, position=fall.position + np.array([0.0, 0.0, 1e-4 * k]))
        write_recording(lifted, folder / f"dog{k % 2}" / f"fall{k}.mcap")
    return folder


@pytest.fixture
def task(walker) -> Task:
    return Task(walker, None, STREAMS, TRUTH, pattern=r"/(dog\d)/")


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes for all tests of a file that let its workers live."""
    with cluster(2, None) as made:
        yield made
