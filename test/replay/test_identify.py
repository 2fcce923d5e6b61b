"""Restitution and friction found in recordings of a body whose bounces are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.replay.convert import write_recording
from hybrid_contact_ros.replay.identify import identify_material
from hybrid_contact_ros.replay.identify_impacts import find_impacts
from hybrid_contact_ros.replay.recordings import Recording

PUCK = """<robot name="puck"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CONTACTS = {"contacts": {"tip": {"link": "body"}}}
STEP, GRAVITY = 0.002, 9.81


def bounces(drops: int, e: tuple[float, float], mu: tuple[float, float], seed: int = 0, rest: int = 0) -> Recording:
    """A body without rotation is thrown again and again and bounces once each time, between two samples."""
    rng = np.random.default_rng(seed)
    t, positions, velocities, begin = [], [], [], 0.0
    for _ in range(drops):
        fall, slide = rng.uniform(0.8, 2.0), rng.uniform(1.0, 2.0)
        bounce, drag = rng.uniform(*e), rng.uniform(*mu)
        before = np.array([slide, 0.0, -fall])
        after = np.array([slide - drag * (1 + bounce) * fall, 0.0, bounce * fall])
        for k in range(-20, 20):
            s = (k + 0.5) * STEP
            v = before if s < 0 else after
            t.append(begin + (k + 20) * STEP)
            positions.append(v * s - [0, 0, 0.5 * GRAVITY * s * s])
            velocities.append(v - [0, 0, GRAVITY * s])
        begin = t[-1] + 0.5
    for _ in range(rest):
        t.append(t[-1] + STEP)
        positions.append(np.zeros(3))
        velocities.append(np.zeros(3))
    n = len(t)
    return Recording(
        np.array(t), np.array(positions), np.tile([0.0, 0, 0, 1], (n, 1)), np.array(velocities), np.zeros((n, 3)),
        urdf=PUCK,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bag(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("identify") / "puck.mcap"
    write_recording(bounces(60, (0.3, 0.4), (0.1, 0.2), rest=50), out)
    return out


@pytest.fixture
def config() -> EstimatorConfig:
    return EstimatorConfig.from_mapping(CONTACTS)


def test_known_restitution_and_friction_are_found_with_their_spread(bag, config):
    found = identify_material(bag, config)
    assert found.impacts == found.used == found.tested == 60
    e, mu = found.restitution, found.friction
    assert mu is not None and mu.count == 60
    for x, low, high in ((e, 0.3, 0.4), (mu, 0.1, 0.2)):
        middle = 0.5 * (low + high)
        assert x.low <= x.value <= x.high and x.high - x.low < 0.03
        assert abs(x.value - middle) < 0.02
        assert low - 0.01 < x.from_ < low + 0.02 and high - 0.02 < x.to < high + 0.01
    assert found.unexplained < 1e-6
    assert found.contained[0] == 1.0 and found.radius < 0.15


def test_the_same_recording_gives_the_same_numbers(bag, config):
    assert identify_material(bag, config).to_dict() == identify_material(bag, config).to_dict()


def test_impacts_are_found_with_their_velocities_at_one_instant(config):
    recording = bounces(5, (0.5, 0.5), (0.15, 0.15))
    model = RigidBodyModel.from_urdf(PUCK, config)
    states = [
        RobotState(round(1e9 * t), np.concatenate((p, [0.0, 0, 0, 1])), np.concatenate((v, np.zeros(3))))
        for t, p, v in zip(recording.time, recording.position, recording.linear, strict=True)
    ]
    found = find_impacts(model, states, 0.15, 0.02, 0.003)
    assert len(found) == 5
    for impact in found:
        before, after = impact.velocities
        assert after[0, 0] == pytest.approx(-0.5 * before[0, 0], rel=1e-6)  # free of gravity's share of the sample
        assert np.linalg.norm(impact.impulse[0, 1:]) == pytest.approx(0.15 * impact.impulse[0, 0], rel=1e-6)


def test_impacts_into_sustained_contact_are_left_out(config):
    """A body that lands without bouncing and stays is supported after: no free motion to compare with."""
    recording = bounces(4, (0.0, 0.0), (0.1, 0.1))
    z, vz = recording.position[:, 2], recording.linear[:, 2]
    landed = np.tile(np.arange(40) >= 20, 4)
    z[landed] = vz[landed] = 0.0
    model = RigidBodyModel.from_urdf(PUCK, config)
    states = [
        RobotState(round(5e9 * t), np.concatenate((p, [0.0, 0, 0, 1])), np.concatenate((v * 0.2, np.zeros(3))))
        for t, p, v in zip(recording.time, recording.position, recording.linear, strict=True)
    ]
    assert find_impacts(model, states, 0.1, 0.02, 0.003) == []


@pytest.mark.parametrize("name", ["speed", "reach", "together"])
@pytest.mark.parametrize("number", [-1.0, float("nan")])
def test_thresholds_that_no_impact_could_pass_are_refused(bag, config, name, number):
    with pytest.raises(ValueError, match=f"{name} is {number}; a finite number ≥ 0 is needed"):
        identify_material(bag, config, **{name: number})


def test_a_recording_without_impacts_is_refused_saying_what_to_do(tmp_path, config):
    write_recording(bounces(2, (0.3, 0.4), (0.1, 0.2)), tmp_path / "few.mcap")
    with pytest.raises(ValueError, match=r"2 impacts in 80 states.*3 are needed"):
        identify_material(tmp_path / "few.mcap", config)


def test_identify_prints_numbers_to_use_and_json(bag, tmp_path, capsys):
    parameters = tmp_path / "puck.yaml"
    parameters.write_text(
        "/**:\n  ros__parameters:\n    floating_base: true\n    contact_names: [tip]\n"
        "    contacts:\n      tip: {link: body}\n"
    )
    assert main(["identify", str(bag), "--config", str(parameters)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "60 impacts" in text and 'law="poisson"' in text and "friction=(" in text
    assert main(["identify", str(bag), "--config", str(parameters), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0.3 < found["restitution"]["value"] < 0.4 and found["impacts"] == 60
    assert main(["identify", str(bag), "--config", str(parameters), "--speed", "9"]) == 2
    assert "0 impacts" in capsys.readouterr().err
