"""How many hours of robot time a minute ``hybrid-contact fleet`` scores, by the number of workers.

Recordings are windows of the shared Go2 episodes (drops and trots with their truth); they are small, so that what
each one costs beside its states is seen, too. The datasets of all runs must have the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.fleets.dataset import Dataset
from hybrid_contact_ros.fleets.find import find
from hybrid_contact_ros.fleets.job import Task
from hybrid_contact_ros.fleets.run import cluster, score
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.recordings.readers import read
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import write_recording

ROOT = Path(__file__).resolve().parent.parent
STREAMS = {"joint_states": "joint_states", "odometry": "odom", "robot_description": "robot_description"}


def window(recording: Recording, first: int, count: int) -> Recording:
    """``count`` samples from ``first`` on, with their own stamps and the impacts within them."""
    part = slice(first, first + count)
    cut: dict[str, Any] = {}
    for each in fields(recording):
        value = getattr(recording, each.name)
        if isinstance(value, np.ndarray) and len(value) == len(recording.time):
            cut[each.name] = value[part]
    times = cut["time"]
    inside = tuple(impact for impact in recording.impacts if times[0] < impact.time < times[-1])
    return replace(recording, **cut, impacts=inside)


def generate(folder: Path, count: int, samples: int) -> None:
    """So many recordings, evenly from all episodes."""
    shared = Path(os.environ.get("HYBRID_CONTACT_SHARED") or ROOT.parent / "shared") / "data" / "go2_mujoco"
    episodes = [read("go2", path) for path in sorted(shared.glob("*.npz"))]
    if not episodes:
        raise SystemExit(f"no recordings in {shared}: name the folder of the shared data in HYBRID_CONTACT_SHARED")
    urdf = example_urdf("go2_description/urdf/go2.urdf").read_text()
    for k in range(count):
        episode = episodes[k % len(episodes)]
        room = len(episode.time) - samples
        turn, turns = k // len(episodes), -(-count // len(episodes))
        first = max(0, room * turn // max(1, turns - 1)) if turns > 1 else 0
        write_recording(window(episode, first, samples), folder / f"robot{k % 5}" / f"{k:04d}.mcap", urdf)


def digest(dataset: Path) -> str:
    """Of all partitions of a dataset."""
    told = hashlib.sha256()
    for path in sorted(dataset.glob("robot=*/day=*/*.parquet")):
        told.update(path.relative_to(dataset).as_posix().encode() + path.read_bytes())
    return told.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench fleet")
    parser.add_argument("--bags", type=int, default=200)
    parser.add_argument("--samples", type=int, default=300, help="states of a recording")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bags_folder = Path(scratch) / "bags"
        generate(bags_folder, args.bags, args.samples)
        bags = find([str(bags_folder)])
        size = sum(bag.size for bag in bags) / 1e6
        config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
        task = Task(config, None, STREAMS, ("/truth/contact_mode", "/truth/impact"), pattern=r"/(robot\d)/")
        print(f"{len(bags)} recordings, {size:.0f} MB, {args.samples} states each")
        print(
            "| workers | started in, s | scored | failed | robot time, s | wall, s | robot h / min | recordings / min "
            "| against 1 |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        seen, rates = set(), {}
        for jobs in args.jobs:
            out = Path(scratch) / f"dataset{jobs}"
            dataset, begin = Dataset(out), time.monotonic()
            with cluster(jobs, None) as client:
                client.wait_for_workers(jobs)
                started = time.monotonic() - begin
                found = score(bags, task, dataset, client)
            dataset.close()
            rates[jobs] = found.rate
            seen.add(digest(out))
            print(
                f"| {jobs} | {started:.1f} | {found.scored} | {len(found.failed)} | {found.robot_seconds:.0f} | "
                f"{found.seconds:.1f} | {found.rate:.4f} | {60.0 * found.scored / found.seconds:.0f} | "
                f"{found.rate / rates[args.jobs[0]]:.2f} |",
                flush=True,
            )
            for url, reason in list(found.failed.items())[:3]:
                print(f"  {url}: {reason}")
        print(f"the datasets {'are the same to the byte' if len(seen) == 1 else f'DIFFER: {len(seen)} kinds'}")


if __name__ == "__main__":
    main()
