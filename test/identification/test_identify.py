"""Restitution and friction found in recordings of a body whose bounces are known."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.identify import Identification, identify, identify_material
from hybrid_contact_ros.identification.material import quantile
from hybrid_contact_ros.identification.observed_impacts import find_impacts
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import write_recording

PUCK = """<robot name="puck"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CONTACTS = {"contacts": {"tip": {"link": "body"}}}
STEP, GRAVITY = 0.002, 9.81
ROD = """<robot name="rod"><link name="body"><inertial><mass value="0.4"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
END = 0.08  # m, of the rod from its centre of mass


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


def tumbling(drops: int, e: float, mu: float, law: str, seed: int = 0, rate: float | None = None) -> list[RobotState]:
    """A rod's lower end strikes while it turns in the plane, so that slip slows, stops or reverses during impacts.

    With ``rate`` (1/s) velocities are differences of noisy poses (0.02 mm, 0.2 mrad), and impacts anywhere in a step.
    """
    rng = np.random.default_rng(seed)
    config = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "body", "points": [0.0, 0.0, -END]}}})
    model = RigidBodyModel.from_urdf(ROD, config)
    step, found, begin = STEP if rate is None else 1.0 / rate, [], 0.0
    while drops:
        tilt = Rotation.from_rotvec([0.0, rng.uniform(-1.0, 1.0), 0.0])
        at = -tilt.apply([0.0, 0.0, -END]) * [0.0, 0.0, 1.0]
        linear, angular = (
            np.array([rng.uniform(-1, 1), 0.0, -rng.uniform(0.8, 2.0)]),
            np.array([0, 6 * rng.normal(), 0]),
        )
        v = np.r_[tilt.inv().apply(linear), angular]
        problem = model.problem(RobotState(0, np.r_[at, tilt.as_quat()], v))
        if (problem.normal_jacobian @ v)[0] > -0.5:
            continue
        # in the plane of motion the friction polygon's vertices are the cone
        outcome = post_impact_set(
            problem, 0.005 * impulse_scale(problem), 1, 4000, directions=4, law=law, restitution=e, friction=mu
        ).velocities[0]  # fmt: skip
        away = tilt.apply(outcome[:3]), outcome[3:]
        offset = 0.5 if rate is None else rng.uniform()
        last = None
        for k in range(-14, 14):
            x = (k + offset) * step
            u, w = (linear, angular) if x < 0.0 else away
            p = at + u * x - [0.0, 0.0, 0.5 * GRAVITY * x * x]
            turned = Rotation.from_rotvec(w * x) * tilt
            velocity = np.r_[turned.inv().apply(u - [0.0, 0.0, GRAVITY * x]), w]
            if rate is not None:
                p, turned = p + 2e-5 * rng.normal(size=3), turned * Rotation.from_rotvec(2e-4 * rng.normal(size=3))
                if last is not None:
                    spin = (last[1].inv() * turned).as_rotvec() * rate
                    velocity = np.r_[turned.inv().apply((p - last[0]) * rate), spin]
                last = p, turned
            found.append(RobotState(round(1e9 * (begin + (k + 14) * step)), np.r_[p, turned.as_quat()], velocity))
        begin += 1.0
        drops -= 1
    return found


def of_rod(states: list[RobotState], law: str) -> Identification:
    config = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "body", "points": [0.0, 0.0, -END]}}})
    impacts = find_impacts(RigidBodyModel.from_urdf(ROD, config), states, 0.15, 0.02, 0.003)
    return identify(len(states), impacts, law)


@pytest.mark.parametrize(("e", "mu", "law"), [(0.3, 0.18, "poisson"), (0.8, 0.4, "poisson"), (0.6, 0.3, "stronge")])
def test_the_sets_own_numbers_are_found_where_slip_turns_within_impacts(e, mu, law):
    """Newton's ratio of velocities and |Λ_t| / Λ_n are up to a tenth below."""
    found = of_rod(tumbling(30, e, mu, law), law)
    assert found.used == 30 and found.law == law and found.unexplained < 1e-5
    for x, true in ((found.restitution, e), (found.friction, mu)):
        assert x is not None and x.value == pytest.approx(true, abs=2e-3)
        assert x.from_ > true - 5e-3 and x.to < true + 5e-3
    assert found.friction_at_least is not None and found.friction_at_least < mu + 2e-3


def test_differences_of_noisy_poses_are_corrected_for_their_lag():
    """Half a step of gravity at 148 Hz alone would make 0.50 into about 0.54."""
    found = of_rod(tumbling(60, 0.5, 0.2, "poisson", rate=148.0), "poisson")
    assert found.restitution.value == pytest.approx(0.5, abs=0.006)
    assert found.friction is not None and found.friction.value == pytest.approx(0.2, abs=0.006)


def test_impacts_that_stick_bound_friction_from_below():
    found = of_rod(tumbling(12, 0.5, 3.0, "poisson"), "poisson")
    assert found.friction is None and found.friction_at_least is not None and 0.0 < found.friction_at_least < 3.0
    assert found.restitution.value == pytest.approx(0.5, abs=0.05)


def test_censored_quantiles_ignore_what_cannot_reach_them():
    rng = np.random.default_rng(0)
    truth, most = rng.normal(1.0, 0.1, 3000), rng.uniform(0.5, 1.5, 3000)
    seen = np.minimum(truth, most)
    for part in (0.05, 0.5, 0.95):
        assert quantile(seen, most, part) == pytest.approx(np.quantile(truth, part), abs=0.02)
    assert quantile(np.array([1.0, 2.0, 3.0, 5.0]), np.full(4, np.inf), 0.5) == 2.5
    weights = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]])
    assert quantile(np.array([1.0, 2.0, 3.0, 5.0]), np.full(4, np.inf), 0.5, weights).tolist() == [1.0, 5.0]


def test_the_law_is_the_configurations_unless_another_is_asked_for(bag):
    stronge = EstimatorConfig.from_mapping(CONTACTS | {"impact": {"law": "stronge"}})
    assert identify_material(bag, stronge).law == "stronge"
    assert identify_material(bag, stronge, law="poisson").law == "poisson"
    inelastic = EstimatorConfig.from_mapping(CONTACTS | {"impact": {"law": "inelastic"}})
    with pytest.raises(ValueError, match="'inelastic', which has no restitution to identify"):
        identify_material(bag, inelastic)


def test_messages_that_cannot_be_read_are_told_and_the_others_count(bag, config, tmp_path):
    with BagReader(bag) as reader, BagWriter(tmp_path / "spoilt.mcap") as spoilt:
        for topic, kind in reader.topics.items():
            spoilt.add(topic, kind)
        for k, (topic, time_ns, data) in enumerate(reader.messages(list(reader.topics), raw=reader.topics)):
            if k % 50 == 7:
                spoilt.write(topic, time_ns, data[:40])
            spoilt.write(topic, time_ns, data + bytes([0xA5]) * (9 if topic == "/odom" else 0))
    whole, found = identify_material(bag, config), identify_material(tmp_path / "spoilt.mcap", config)
    (warning,) = found.warnings
    assert re.match(r"\d+ messages could not be read; the last: odom: the bytes are no message of the type", warning)
    assert found.to_dict() == whole.to_dict() | {"warnings": (warning,)} and found.damage is None


def test_identify_prints_numbers_to_use_and_json(bag, tmp_path, capsys):
    parameters = tmp_path / "puck.yaml"
    parameters.write_text(
        "/**:\n  ros__parameters:\n    floating_base: true\n    contact_names: [tip]\n"
        "    contacts:\n      tip: {link: body}\n"
    )
    assert main(["identify", str(bag), "--config", str(parameters)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "60 impacts" in text and 'law="poisson"' in text and "friction=(" in text
    assert main(["identify", str(bag), "--config", str(parameters), "--law", "stronge"]) == 0
    assert 'law="stronge"' in capsys.readouterr().out
    assert main(["identify", str(bag), "--config", str(parameters), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0.3 < found["restitution"]["value"] < 0.4 and found["impacts"] == 60
    assert main(["identify", str(bag), "--config", str(parameters), "--speed", "9"]) == 2
    assert "0 impacts" in capsys.readouterr().err
