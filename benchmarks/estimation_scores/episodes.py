"""Recordings with their truths, and the robots they are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.parameter_values import checked
from hybrid_contact_ros.recordings.recording import Recording

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
_KNOWN = ("gap", "velocity", "force", "chatter")  # arrays of an episode that not every recording has


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """One recording with what is known of its k contacts. ``recording.closed`` (n, k) is the truth that is scored.

    Attributes:
        certain: (n, k), where all that is known of the truth agrees; scores are of these samples.
        labels: other truths (n, k), by name. An event is not false where one of them has it.
        gap: (n, k) m, velocity: (n, k, 3) m/s, of the contact's point; force: (n, k, 3) N, on the robot, world axes:
            the true ones, where they are known, for ceilings and nothing else.
        chatter: (n, k), where the truth is open between two impulses of the same skimming foot, or closed although the
            sole has tilted off the ground (:mod:`.chatter`).
    """

    name: str
    recording: Recording
    certain: Bools
    labels: Mapping[str, Bools] = field(default_factory=dict)
    gap: Array | None = None
    velocity: Array | None = None
    force: Array | None = None
    chatter: Bools | None = None

    @property
    def truth(self) -> Bools:
        assert self.recording.closed is not None
        return np.asarray(self.recording.closed, dtype=np.bool_)

    def without_chatter(self) -> Episode:
        """The same, scored only where the truth is one."""
        return self if self.chatter is None else replace(self, certain=self.certain & ~self.chatter)

    def scored_after(self, seconds: float) -> Episode:
        """The same, scored from so many seconds after its beginning on. Events are counted throughout."""
        time = self.recording.time
        return replace(self, certain=self.certain & (time >= time[0] + seconds)[:, None])

    def part(self, chosen: Any) -> Episode:
        """The samples that an index or a slice chooses."""
        return replace(
            self,
            recording=part(self.recording, chosen),
            certain=self.certain[chosen],
            labels={name: x[chosen] for name, x in self.labels.items()},
            **{name: None if (x := getattr(self, name)) is None else x[chosen] for name in _KNOWN},
        )


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The recordings of one robot on one kind of motion.

    Attributes:
        urdf: file. config: as a new user would write it. members: the estimator's contacts of each true one.
        load: reads the episodes. window: s, an event that is told this near to a true one is that one.
        missing: what to do to get it, where it is not there.
    """

    name: str
    urdf: Path
    config: EstimatorConfig
    members: tuple[tuple[int, ...], ...]
    load: Callable[[], list[Episode]]
    window: float = 0.02
    missing: str = ""

    def model(self, config: EstimatorConfig) -> RigidBodyModel:
        return RigidBodyModel.from_urdf(self.urdf, config)


def part(recording: Recording, chosen: Any) -> Recording:
    """Some samples of a recording, by an index or a slice."""
    n = recording.time.size
    rows = {f.name: x for f in fields(recording) if isinstance(x := getattr(recording, f.name), np.ndarray)}
    return replace(recording, **{name: x[chosen] for name, x in rows.items() if x.shape[:1] == (n,)})


def states(model: RigidBodyModel, recording: Recording) -> list[RobotState]:
    """What the estimator is given: a state for each sample."""
    r, joints = recording, list(recording.joints)
    assert r.q is not None and r.dq is not None
    order = [joints.index(name) for name in model.joint_names]
    q, v = r.q[:, order], r.dq[:, order]
    effort = None if r.effort is None else r.effort[:, order]
    if model.floating_base:
        assert r.position is not None and r.quaternion is not None and r.linear is not None and r.angular is not None
        q, v = np.hstack([r.position, r.quaternion, q]), np.hstack([r.linear, r.angular, v])
        effort = None if effort is None else np.hstack([np.zeros((len(effort), 6)), effort])
    q, v = (np.ascontiguousarray(x, dtype=np.float64) for x in (q, v))
    efforts = [None] * len(q) if effort is None else list(np.ascontiguousarray(effort, dtype=np.float64))
    stamps = np.rint(1e9 * r.time).astype(np.int64)
    carried = [None] * len(q) if r.base_carried is None else list(r.base_carried)
    return [
        RobotState(int(t), *row, base_carried=base)
        for t, base, *row in zip(stamps, carried, q, v, efforts, strict=True)
    ]


def override(config: EstimatorConfig, settings: list[str]) -> EstimatorConfig:
    """A configuration with ``group.parameter=value`` set; ``*`` stands for every entry of a mapping.

    Raises:
        ValueError: there is no such parameter, or the value does not suit it.

    Example:
        >>> override(EstimatorConfig(), ["activation.gap_on=0.004"]).activation.gap_on
        0.004
    """
    for setting in settings:
        path, _, text = setting.partition("=")
        config = _set(config, path.split("."), path, _value(text))
    return config


def _value(text: str) -> Any:
    if "," in text:
        return [_value(x) for x in text.split(",")]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


def _set(node: Any, path: list[str], key: str, value: Any) -> Any:
    name = path[0]
    if isinstance(node, Mapping):
        names = list(node) if name == "*" else [name]
        if not set(names) <= set(node):
            raise ValueError(f"{key}: there is no {name!r}; there are {', '.join(node)}")
        return {**node, **{n: _set(node[n], path[1:], key, value) for n in names}}
    known = {f.name: f for f in fields(node)} if is_dataclass(node) else {}
    if name not in known:
        raise ValueError(f"{key}: there is no {name!r}; there are {', '.join(known)}")
    below = getattr(node, name)
    if len(path) > 1:
        return replace(node, **{name: _set(below, path[1:], key, value)})
    return replace(node, **{name: checked(known[name], key, value)})
