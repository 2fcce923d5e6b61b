"""Fleets for tests: small runs, and a worker that a recording kills."""

from __future__ import annotations

import contextlib
import os
import signal

from distributed import WorkerPlugin

from hybrid_contact_ros.fleets import job
from hybrid_contact_ros.fleets.dataset import FILE, Dataset
from hybrid_contact_ros.fleets.find import find
from hybrid_contact_ros.fleets.run import score

STREAMS = {
    "joint_states": "joint_states", "odometry": "odom", "robot_description": "robot_description",
    "namespace": "", "twist_in_world": False,
}  # fmt: skip
TRUTH = ("/truth/contact_mode", "/truth/impact")


@contextlib.contextmanager
def opened(path):
    dataset = Dataset(path)
    try:
        yield dataset
    finally:
        dataset.close()


def scored(bags, task, out, client, **options):
    """What comes of a run over a folder on a client's cluster."""
    with opened(out) as dataset:
        return score(find([str(bags)]), task, dataset, client, **options)


def partitions(out) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.glob(f"*=*/*=*/{FILE}"))}


def arm(deadly):
    """From now on this process dies of that recording, as of a crash in a library."""
    real = job._scored

    def scored(bag, *rest):
        if bag.url == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(bag, *rest)

    job._scored = scored


class Armed(WorkerPlugin):
    """Arms the workers that are started later, too."""

    def __init__(self, deadly):
        self.deadly = deadly

    def setup(self, worker):
        arm(self.deadly)
