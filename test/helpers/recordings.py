"""Recordings for the replay tests: synthetic ones, and the shared data where it is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.replay.recordings import Impact, Recording

# Two legs on a body, feet are points: small enough to read, big enough for a floating base, joints and two contacts.
WALKER = """<robot name="walker">
<link name="base"><inertial><mass value="5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
{legs}</robot>""".format(
    legs="".join(
        f"""<link name="{side}_foot"><inertial><mass value="0.5"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{side}_knee" type="prismatic"><parent link="base"/><child link="{side}_foot"/>
<origin xyz="0 {y} -0.5"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="99" velocity="9"/></joint>"""
        for side, y in (("left", 0.2), ("right", -0.2))
    )
)


@pytest.fixture
def shared_file(shared: Path) -> Callable[..., Path]:
    """A file of the shared data, or a skip."""

    def find(*names: str) -> Path:
        path = shared.joinpath("data", *names)
        if not path.exists():
            pytest.skip(f"{path.name} is not in the shared data")
        return path

    return find


@pytest.fixture
def walker() -> EstimatorConfig:
    contacts = {side: {"link": f"{side}_foot"} for side in ("left", "right")}
    return EstimatorConfig.from_mapping({"contacts": contacts})


@pytest.fixture
def fall() -> Recording:
    """The walker falls 45 mm at 1 kHz, lands flat without a bounce, and stands: the impact stops its feet alone, since
    the legs can fold, and then motors stop the body within a millisecond."""
    n, g, height = 200, 9.81, 0.045
    time = 0.001 * np.arange(n)
    landing = int(np.sqrt(2 * height / g) * 1000) + 1
    flying = np.arange(n) < landing
    z = np.where(flying, 0.5 + height - 0.5 * g * time**2, 0.5)
    vz = np.where(flying, -g * time, 0.0)
    zeros = np.zeros((n, 2))
    linear = np.column_stack((np.zeros(n), np.zeros(n), vz))
    before, after = np.zeros(8), np.zeros(8)
    before[2] = after[2] = -g * time[landing]
    after[6:] = g * time[landing]
    closed = np.repeat(~flying[:, None], 2, axis=1)
    force = np.zeros((n, 2, 3))
    force[:, :, 2] = np.where(closed, 6 * g / 2, 0.0)
    return Recording(
        time,
        np.column_stack((np.zeros(n), np.zeros(n), z)),
        np.tile([0.0, 0, 0, 1], (n, 1)),
        linear,
        np.zeros((n, 3)),
        ("right_knee", "left_knee"),  # not the model's order, on purpose
        zeros,
        zeros,
        zeros + np.where(flying, 0.0, -0.5 * 5 * g)[:, None],
        ("left", "right"),
        ("left_foot", "right_foot"),
        closed,
        closed & False,
        force,
        (Impact(time[landing] - 1e-4, ("left", "right"), before, after),),
        WALKER,
    )


@pytest.fixture
def without_model(fall) -> Recording:
    return replace(fall, urdf=None)
