"""Intervals of landings are found where they are known, and sets with them hold other landings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.identification.landing_division import divide, rounded
from hybrid_contact_ros.identification.landing_file import parameter_file
from hybrid_contact_ros.identification.landing_fit import Case, fit_terms
from hybrid_contact_ros.identification.landing_friction import ratios, with_seen_friction
from hybrid_contact_ros.identification.landing_records import RecordedLanding, find_landings
from hybrid_contact_ros.identification.landings import identify, identify_landings
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.landing_set import MODEL_ERROR
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import write_recording

HOPPER = """<robot name="hopper">
<link name="body"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="thigh"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/><inertia ixx="0.002" iyy="0.002" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"/>
<joint name="hip" type="revolute"><parent link="body"/><child link="thigh"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="100"/></joint>
<joint name="knee" type="revolute"><parent link="thigh"/><child link="shank"/><origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="100"/></joint>
<joint name="ankle" type="fixed"><parent link="shank"/><child link="foot"/><origin xyz="0 0 -0.2"/></joint>
</robot>"""  # noqa: E501
CONTACTS = {"contacts": {"foot": {"link": "foot", "friction": 2.0}}}
TRUE = LandingTerms(duration_min=0.001, duration_max=0.003, rebound_min=-0.05, rebound_max=0.15, drive_max=0.002)
STEP = 0.001


@pytest.fixture(scope="module")
def model() -> RigidBodyModel:
    return RigidBodyModel.from_urdf(HOPPER, EstimatorConfig.from_mapping(CONTACTS))


def before_touch(rng: np.random.Generator, model: RigidBodyModel, torque: float = 4.0) -> RobotState:
    """The hopper about to touch, bent, with its torques."""
    q = np.r_[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, rng.uniform(0.3, 0.8), rng.uniform(-1.6, -0.8)]
    v = np.r_[rng.uniform(-0.1, 0.1, 2), rng.uniform(-2.0, -1.0), 0.1 * rng.normal(size=3), rng.normal(size=2)]
    gap = model.problem(RobotState(0, q, v)).gap[0]
    q[2] -= gap
    return RobotState(0, q, v, np.r_[np.zeros(6), rng.uniform(-torque, torque, 2)])


def landed(model: RigidBodyModel, state: RobotState, s: float, e: float, k: float, episode: str) -> RecordedLanding:
    """What the law makes of it."""
    problem = model.problem(state)
    landing = RecordedLanding(
        episode, 0, problem.mass.copy(), problem.bias_force.copy(), np.ascontiguousarray(problem.jacobian()),
        np.ones(1, dtype=bool), state.v.astype(np.float64), state.v.astype(np.float64), problem.friction.copy(),
        np.zeros(1), 0.002, np.arange(model.nv) >= 6,
    )  # fmt: skip
    after = Case(landing).outcomes(np.array([s]), np.array([k]), np.array([[e]]))[0]
    return replace(landing, after=after)


def many(model: RigidBodyModel, count: int, per_episode: int, seed: int = 0) -> list[RecordedLanding]:
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        s, e = rng.uniform(TRUE.duration_min, TRUE.duration_max), rng.uniform(TRUE.rebound_min, TRUE.rebound_max)
        k = rng.uniform(0.0, TRUE.drive_max)
        found.append(landed(model, before_touch(rng, model), s, e, k, f"episode {i // per_episode:03d}"))
    return found


def test_the_intervals_that_made_landings_are_found():
    """Of a shank so heavy that its drive adds all of k: M_jj is 5 g m²."""
    heavier = HOPPER.replace('<mass value="0.2"/>', '<mass value="0.4"/>')
    model = RigidBodyModel.from_urdf(heavier, EstimatorConfig.from_mapping(CONTACTS))
    cases = [Case(landing) for landing in many(model, 80, 4)]
    assert min(case.landing.mass.diagonal().min() for case in cases) > 2.0 * TRUE.drive_max
    found = fit_terms(cases, 50.0, own=False, tolerance=1e-3)
    for name, slack in (("duration", 4e-4), ("rebound", 0.02), ("drive", 5e-4)):
        for end in ("min", "max"):
            assert getattr(found, f"{name}_{end}") == pytest.approx(getattr(TRUE, f"{name}_{end}"), abs=slack)
    assert max(found.slip, found.creep, found.settling, found.bounce) < 0.05
    assert np.mean([case.score(found).distance <= 0.02 for case in cases]) >= 0.95


def test_where_a_joint_is_too_light_for_k_the_sets_found_hold_the_landings_all_the_same(model):
    """The drive of the shank adds 1.5 g m² at most. The fit is linear in k, and makes up for that by the duration."""
    cases = [Case(landing) for landing in many(model, 80, 4)]
    assert max(case.landing.mass.diagonal().min() for case in cases) < 2.0 * TRUE.drive_max
    found = fit_terms(cases, 50.0, own=False, tolerance=1e-3)
    scores, true = ([case.score(terms) for case in cases] for terms in (found, TRUE))
    assert np.mean([score.distance <= 0.02 for score in scores]) >= 0.95
    assert np.median([s.half_width for s in scores]) <= 1.2 * np.median([s.half_width for s in true])


def test_a_cheaper_fit_is_smaller_and_holds_less(model):
    cases = [Case(landing) for landing in many(model, 60, 4)]
    cheap, dear = (fit_terms(cases, price, own=False, tolerance=1e-3) for price in (0.3, 50.0))
    scores = [[case.score(terms) for case in cases] for terms in (cheap, dear)]
    small, large = (np.median([s.half_width for s in some]) for some in scores)
    near, far = (np.mean([s.distance <= 0.01 for s in some]) for some in scores)
    assert small < large and near < far


def test_landings_of_other_episodes_lie_in_sets_with_identified_terms(model):
    result = identify(many(model, 160, 4), 40)
    assert result.calibration.method == "split" and result.calibration.level == 0.95
    assert result.calibration.count >= 19 and result.fitted + result.calibration.count + result.tested == 160
    assert result.after is not None and result.before is not None
    assert result.after.inside >= 0.85 and result.after.within_5 >= 0.95
    assert result.after.ball_5 > result.after.half_width  # the set is smaller than a ball that does the same


def test_few_landings_are_calibrated_by_jackknife_with_its_weaker_level(model):
    result = identify(many(model, 24, 2), 12)
    assert result.calibration.method == "jackknife+" and 0.0 < result.calibration.level < 0.9


def test_no_episode_is_divided_and_none_is_in_two_parts():
    episodes = [f"e{i % 30}" for i in range(200)]
    for seed in range(20):
        parts = divide(episodes, 0.95, seed)
        assert sorted(i for part in parts for i in part) == list(range(200))
        names = [{episodes[i] for i in part} for part in parts]
        assert not (names[0] & names[1] or names[0] & names[2] or names[1] & names[2])
        assert len(parts[1]) >= 19


def test_friction_of_slides_is_seen_and_earlier_landings_alone_are_known(model):
    rng = np.random.default_rng(5)
    found = []
    for _ in range(4):
        state = before_touch(rng, model)
        state = replace(state, v=np.r_[4.0, state.v[1:]], effort=np.zeros(8))
        slippery = replace(landed(model, state, 0.0, 0.0, 0.0, "one"), friction=np.array([0.3]))
        after = Case(slippery).outcomes(np.array([slippery.duration]), np.zeros(1), np.zeros((1, 1)))[0]
        found.append(replace(slippery, after=after, friction=np.array([2.0])))
    assert all(slid and ratio == pytest.approx(0.3, abs=0.01) for x in found for ratio, slid in ratios(x))
    live, all_seen = with_seen_friction(found, False), with_seen_friction(found, True)
    assert live[0].friction[0] == 2.0 and live[1].friction[0] == pytest.approx(0.3, abs=0.01)
    assert all_seen[0].friction[0] == pytest.approx(0.3, abs=0.01)


def test_rounding_never_narrows():
    exact = LandingTerms(
        duration_min=0.001234, duration_max=0.004321, rebound_min=-0.0789, rebound_max=0.1811, slip=0.0101
    )
    found = rounded(exact)
    assert found == LandingTerms(
        duration_min=0.0012, duration_max=0.0044, rebound_min=-0.079, rebound_max=0.19, slip=0.011
    )


def test_landings_without_enough_episodes_are_refused(model):
    with pytest.raises(ValueError, match="no landings in 3 episodes"):
        identify([], 3)
    with pytest.raises(ValueError, match="all 12 landings are of one episode"):
        identify(many(model, 12, 12), 2)
    with pytest.raises(ValueError, match="there are 6 landings; 10 are needed"):
        identify(many(model, 6, 2), 3)


def hops(model: RigidBodyModel, seed: int, drops: int = 4) -> Recording:
    """Falls that end by the law, 1 kHz, with the torques of the joints."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
    t = 0.0
    for _ in range(drops):
        touch = before_touch(rng, model, torque=0.5)
        s, e = rng.uniform(TRUE.duration_min, TRUE.duration_max), rng.uniform(TRUE.rebound_min, TRUE.rebound_max)
        after = landed(model, touch, s, e, rng.uniform(0.0, TRUE.drive_max), "").after
        acceleration = np.linalg.solve(model.problem(touch).mass, -model.problem(touch).bias_force)
        for k in range(-30, 20):
            x = k * STEP
            v = touch.v + x * acceleration if k <= 0 else after
            q = model.integrate(touch.q, x * (touch.v + 0.5 * x * acceleration)) if k <= 0 else touch.q
            rows.append((t, q, v, touch.effort))
            t += STEP
        t += 0.2
    q, v = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    return Recording(
        time=np.array([row[0] for row in rows]), position=q[:, :3], quaternion=q[:, 3:7], linear=v[:, :3],
        angular=v[:, 3:6], joints=tuple(model.joint_names), q=q[:, 7:], dq=v[:, 6:],
        effort=np.array([row[3] for row in rows])[:, 6:], urdf=HOPPER,
    )  # fmt: skip


def test_landings_are_found_in_states_with_their_velocities(model):
    recording = hops(model, 0, 6)
    states = [
        RobotState(
            round(1e9 * t), np.concatenate((p, x, j)), np.concatenate((u, w, d)), np.concatenate((np.zeros(6), tau))
        )
        for t, p, x, j, u, w, d, tau in zip(
            recording.time,
            recording.position,
            recording.quaternion,
            recording.q,
            recording.linear,
            recording.angular,
            recording.dq,
            recording.effort,
            strict=True,
        )
    ]
    found = find_landings(model, states, "one", 0.003, 0.02)
    assert len(found) == 6
    for i, landing in enumerate(found):
        assert np.array_equal(landing.velocity, states[50 * i + 30].v)
        assert np.array_equal(landing.after, states[50 * i + 31].v)
        assert landing.hitting.tolist() == [True] and landing.duration == pytest.approx(STEP)
    assert find_landings(model, states[:30], "one", 0.003, 0.02) == []


@pytest.fixture(scope="module")
def bags(model, tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("landings")
    found = []
    for seed in range(12):
        found.append(folder / f"hops_{seed:02d}.mcap")
        write_recording(hops(model, seed), found[-1])
    return found


@pytest.fixture
def parameters(tmp_path) -> Path:
    path = tmp_path / "hopper.yaml"
    path.write_text(
        "/**:\n  ros__parameters:\n    floating_base: true\n    contact_names: [foot]\n"
        "    contacts:\n      foot: {link: foot, friction: 2.0}\n"
    )
    return path


def test_identify_writes_a_parameter_file_that_a_configuration_reads(bags, parameters, tmp_path, capsys):
    out = tmp_path / "landing.yaml"
    arguments = ["identify", *map(str, bags), "--config", str(parameters), "--landings", "--damping", "2"]
    assert main([*arguments, "--out", str(out)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "48 landings in 12 episodes" in text and "on average over calibrations" in text
    written = out.read_text()
    assert "the damping gain, 2 N m s/rad, times" in written
    both = tmp_path / "both.yaml"
    both.write_text(parameters.read_text() + written.split("ros__parameters:\n", 1)[1])
    landing = EstimatorConfig.from_file(both).landing
    assert landing.calibration_count >= 19 and landing.calibration_method in ("split", "jackknife+")
    assert 0.5 < landing.level <= 0.95 and 0.0 < landing.duration_max < 0.006
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["landings"] == 48 and found["time_constant"][1] == found["terms"]["drive_max"] / 2.0
    assert parameter_file(identify_landings(bags, parameters, damping=2.0)) == written


def test_what_cannot_be_identified_is_refused_saying_why(bags, parameters, model, tmp_path, capsys):
    def refused(*arguments: str) -> str:
        assert main(["identify", *arguments, "--config", str(parameters)]) == 2
        return " ".join(capsys.readouterr().err.split())

    one, two = map(str, bags[:2])
    assert "there is one episode" in refused(one, "--landings")
    assert "several are for --landings" in refused(one, two)
    assert "the level is 1.5" in refused(one, two, "--landings", "--level", "1.5")
    assert "the damping gain is -1" in refused(one, two, "--landings", "--damping", "-1")
    names = ("time", "position", "quaternion", "linear", "angular", "q", "dq", "effort")
    for i in range(2):
        still = hops(model, i, 1)
        parts = {name: getattr(still, name)[:25] for name in names}
        write_recording(replace(still, **parts), tmp_path / f"still_{i}.mcap")
    assert "no landings in 2 episodes" in refused(*(str(tmp_path / f"still_{i}.mcap") for i in range(2)), "--landings")
    write_recording(replace(hops(model, 0), effort=None), tmp_path / "mute.mcap")
    assert "mute.mcap has no efforts" in refused(one, str(tmp_path / "mute.mcap"), "--landings")
    heavier = replace(hops(model, 0), urdf=HOPPER.replace('mass value="5"', 'mass value="9"'))
    write_recording(heavier, tmp_path / "heavy.mcap")
    assert "heavy.mcap is of another robot" in refused(one, str(tmp_path / "heavy.mcap"), "--landings")
    slow = hops(model, 0)
    write_recording(replace(slow, time=10.0 * slow.time), tmp_path / "slow.mcap")
    assert "10 ms apart" in refused(one, str(tmp_path / "slow.mcap"), "--landings")


def test_copies_of_a_recording_count_once_and_predictions_beside_it_are_passed_over(bags, parameters, tmp_path, capsys):
    copy, replayed = tmp_path / "again.mcap", tmp_path / "hops_00_predictions.mcap"
    copy.write_bytes(bags[0].read_bytes())
    assert main(["replay", str(bags[0]), "--config", str(parameters), "--out", str(replayed)]) == 0
    rest = ["--config", str(parameters), "--landings"]
    capsys.readouterr()
    assert main(["identify", str(bags[0]), str(copy), str(replayed), *rest]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "there is one episode" in said and "again.mcap has the states of" in said
    assert "hops_00_predictions.mcap holds predictions and no states: passed over" in said
    assert main(["identify", *map(str, (*bags[:4], copy, replayed)), *rest]) == 0
    out, err = (" ".join(text.split()) for text in capsys.readouterr())
    assert "16 landings in 4 episodes" in out and "it is counted once" in err and "passed over" in err
    assert "below the level of 95 % that was asked for: it needs 19 calibration landings" in out


def test_predictions_state_the_coverage_of_the_calibration(model):
    stated = {"level": 0.95, "calibration_count": 19, "calibration_method": "split", "margin": 0.03}
    state = before_touch(np.random.default_rng(0), model)
    for landing, level, method in ((stated, 0.95, "split"), ({}, 0.0, "")):
        config = EstimatorConfig.from_mapping(CONTACTS | {"landing": landing})
        found = ContactEstimator(model, config).impact(state, contacts=[0])
        assert (found.level, found.calibration_method) == (level, method)
        assert found.margin == pytest.approx(max(landing.get("margin", 0.0), MODEL_ERROR) * found.jump)
