"""Whether another processor computes the same: numbers of fixed problems, written on one and compared on another.

``python -m benchmarks aarch64 HERE.json`` computes and writes; ``--only`` leaves parts out, and with ``--against
THERE.json`` what another machine wrote is compared with. Nothing here is timed, and ROS is not needed.
``docs/aarch64.md`` says how the other machine may be an emulated one, and what came out.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.impact_problems import random_problem
from benchmarks.impacts import cube_landing, go2_landing
from benchmarks.modes import legged, sole
from hybrid_contact_ros import EstimatorConfig, Recording, RigidBodyModel, RobotState, replay_bag, write_recording
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.impacts.restitution import LAWS
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.replay.session import OUTPUTS
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

Numbers = dict[str, list[float]]

TOLERANCE = 1e-6
"""Of a difference, relative to the largest number of its kind in its part."""
CONFIG = Path(__file__).parents[1] / "config" / "go2.yaml"
_UNLIKE = {"compute_time", "input_age", "residual"}  # times of the machine, and what rounding leaves


def impacts() -> Numbers:
    """One impact set of each law for each of three bodies, and twenty random impacts of all contacts at once."""
    found: Numbers = {}
    bodies = {"rocking block": rocking_block_impact().problem, "cube": cube_landing(), "Go2": go2_landing()}
    for name, problem in bodies.items():
        if problem is None:
            continue
        for law in LAWS:
            given = {} if law == "inelastic" else {"restitution": (0.25, 0.38)}
            one = post_impact_set(problem, impulse_scale(problem), 64, 100, law=law, **given)
            for field in ("velocities", "impulses", "steps", "terminated", "lower", "upper"):
                found[f"{name}, {law}: {field}"] = _flat(getattr(one, field))
    rng = np.random.default_rng(1)
    outcomes = [simultaneous_impact(random_problem(rng, "plain", m=4, d=2)) for _ in range(20)]
    found["simultaneous: velocity"] = _flat(np.concatenate([one.velocity for one in outcomes]))
    found["simultaneous: status"] = [float(one.status) for one in outcomes]
    return found


def modes() -> Numbers:
    """Contact modes, forces and accelerations of robots on 2 to 6 feet, and of bodies on 4 to 8 points of a sole."""
    found: Numbers = {}
    for make, contacts in ((legged, 2), (legged, 4), (legged, 6), (sole, 4), (sole, 8)):
        rng = np.random.default_rng(contacts)
        solved = [force_acceleration_mode(make(rng, contacts)) for _ in range(20)]
        name = f"{make.__name__} {contacts}"
        found[f"{name}: statuses"] = _flat(np.array([one.contact_status for one in solved]))
        found[f"{name}: forces"] = _flat(np.array([one.reaction for one in solved]))
        found[f"{name}: acceleration"] = _flat(np.array([one.motion for one in solved]))
    return found


def replay() -> Numbers:
    """All that the engine says of a Go2 which falls 5 cm at 500 Hz and then stands: every number of every message."""
    config = EstimatorConfig.from_file(CONFIG)
    found: Numbers = {}
    with TemporaryDirectory() as folder:
        write_recording(_fall(config), Path(folder) / "in.mcap")
        replay_bag(Path(folder) / "in.mcap", config, out=Path(folder) / "out.mcap", complete_sets=True)
        with BagReader(Path(folder) / "out.mcap") as reader:
            for topic, _, message in reader.messages(list(OUTPUTS)):
                for name, value in _numbers(message, topic):
                    one = np.abs(value) if name.endswith(".generators") else value  # half-axes: their signs are free
                    found.setdefault(name, []).extend(_flat(one))
    return found


def _fall(config: EstimatorConfig, height: float = 0.05, rate: float = 500.0, standing: int = 20) -> Recording:
    """A Go2 with fixed legs in free fall, then standing with the efforts that hold it.

    It moves sideways and its legs are not equal, since rounding decides the direction of slip in a fall straight
    down, and the order of feet that land together.
    """
    urdf = Path(example_urdf("go2_description/urdf/go2.urdf"))
    model = RigidBodyModel.from_urdf(urdf, config)
    q = np.zeros(model.nq)
    q[2], q[6], q[7:] = 0.35, 1.0, np.tile([0.0, 0.9, -1.8], 4) + 0.01 * np.arange(12)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    stands = model.problem(RobotState(0, q, np.zeros(model.nv)))
    J, g = stands.jacobian(), 9.81
    forces = np.linalg.lstsq(J[:, :6].T, stands.bias_force[:6], rcond=None)[0]
    effort = stands.bias_force[6:] - J[:, 6:].T @ forces
    falling = np.arange(int(np.sqrt(2.0 * height / g) * rate)) / rate
    n = falling.size + standing
    rows, joints = np.zeros((n, 3)), (n, model.nv - 6)
    position, linear = rows + q[:3], rows.copy()
    position[: falling.size, 2] += height - 0.5 * g * falling**2
    linear[: falling.size] = np.column_stack((np.full_like(falling, 0.3), np.full_like(falling, 0.1), -g * falling))
    position[: falling.size, :2] += (falling - falling[-1])[:, None] * linear[0, :2]
    return Recording(
        np.arange(n) / rate,
        position=position,
        quaternion=np.tile(q[3:7], (n, 1)),
        linear=linear,
        angular=rows.copy(),
        joints=model.joint_names,
        q=np.tile(q[7:], (n, 1)),
        dq=np.zeros(joints),
        effort=np.where(np.arange(n)[:, None] < falling.size, 0.0, effort),
        urdf=urdf.read_text(encoding="utf-8"),
    )


def _numbers(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The numbers of a message, by the path of their fields."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in _UNLIKE and not field.name.startswith("__"):
                yield from _numbers(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, (bool, int, float, np.ndarray)):
        yield name[:-2] if name.endswith((".x", ".y", ".z")) else name, value
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one, name)


def _flat(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(values)]


PARTS: dict[str, Callable[[], Numbers]] = {"impacts": impacts, "modes": modes, "replay": replay}


def difference(here: list[float], there: list[float]) -> float:
    """The greatest difference of two lists over the greatest number in them; infinite where one cannot stand for the
    other: another length, or NaN or infinity at another place."""
    a, b = np.array(here), np.array(there)
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    gap = np.abs(a[finite] - b[finite]).max(initial=0.0)
    return 0.0 if gap == 0.0 else float(gap / np.abs(np.concatenate((a[finite], b[finite]))).max())


def compare(here: dict[str, Any], there: dict[str, Any], worst: int = 5) -> bool:
    """Print the greatest differences of each part; whether all are within the tolerance."""
    print(f"{here['machine']} against {there['machine']}")
    good = True
    for part in PARTS:
        if part not in here["parts"] or part not in there["parts"]:
            print(f"{part}: not on both")
            continue
        one, other = here["parts"][part], there["parts"][part]
        found = {name: difference(one.get(name, [np.nan]), other.get(name, [])) for name in one | other}
        count, equal = sum(map(len, one.values())), sum(one.get(name) == other.get(name) for name in found)
        print(f"{part}: {count} numbers of {len(found)} kinds, {equal} kinds to the bit; greatest differences:")
        for name in sorted(found, key=found.__getitem__, reverse=True)[:worst]:
            print(f"  {found[name]:8.1e}  {name}")
        good &= all(gap <= TOLERANCE for gap in found.values())
    print(f"all within {TOLERANCE:.0e}" if good else f"NOT all within {TOLERANCE:.0e}")
    return good


def main() -> int:
    """Compute, and write or compare what was asked for; the exit code says whether it was the same."""
    parser = argparse.ArgumentParser(prog="./run bench aarch64", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, help="file to write the numbers to")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="the parts to compute")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what another machine wrote")
    args = parser.parse_args()
    found: dict[str, Any] = {"machine": platform.machine(), "parts": {}}
    for name in args.only:
        found["parts"][name] = PARTS[name]()
        print(f"{name}: {sum(map(len, found['parts'][name].values()))} numbers", flush=True)
        if args.out is not None:  # after each part, which may take long where it is emulated
            args.out.write_text(json.dumps(found))
    return 0 if args.against is None else int(not compare(found, json.loads(args.against.read_text())))


if __name__ == "__main__":
    sys.exit(main())
