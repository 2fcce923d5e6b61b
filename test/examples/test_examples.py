"""Every example runs, and ends in a number that is known from somewhere else: a closed form, or a paper."""

import re
import runpy
from math import ceil, log, pi, radians, sqrt, tan

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chi2

GRAVITY = 9.81
WITH_ROS = {
    "controller_side": "test/ros/test_example.py",
    "low_command": "test/ros/test_low_command.py",
}  # tested beside a running node


@pytest.fixture
def example(root, request):
    """The variables that the example of this test's name ends with."""
    name = request.node.originalname.removeprefix("test_")
    return runpy.run_path(str(root / "examples" / f"{name}.py"))


def test_push_a_box(example):
    assert example["tipping_force"] == pytest.approx(2.0 * GRAVITY * 0.4 / (2 * 0.3), rel=1e-5)  # m g w / (2 c)
    assert example["share_of_front"] == pytest.approx(0.5 + 0.5 * 0.5, rel=1e-5)  # half of the tipping moment


def test_painleve_rod(example):
    assert example["jamming_tangent"] == pytest.approx(3 - sqrt(5), abs=1e-6)
    # Λ stops the slide of 1 m/s: G Λ = (0, 1) with G of the rod at tan θ = 2
    impulse = np.linalg.solve([[1 + 3 / 5, -6 / 5], [-6 / 5, 1 + 12 / 5]], [0.0, 1.0])
    np.testing.assert_allclose(example["first"].impulse[0], impulse, rtol=1e-8)  # until it slides no more than 1e-8 m/s
    assert example["first"].time == 0.0


def test_rocking_block_set(example):
    speed = sqrt(2 * GRAVITY * 0.01)
    limit = 0.7 * 0.5 * speed / (5 / 12 + 1.25)  # rad/s after both impacts; the corners are 1 m apart
    assert limit == pytest.approx(0.0930, abs=5e-5)  # as published
    assert 0.95 * limit < example["fastest_lift"] <= limit * (1 + 1e-9)
    np.testing.assert_allclose(example["left_first"].velocity, [limit, limit / 2, -limit], rtol=1e-9)
    np.testing.assert_allclose(example["right_first"].velocity, [-limit, limit / 2, limit], rtol=1e-9)
    np.testing.assert_allclose(example["at_once"].velocity, 0.0, atol=1e-12)
    assert example["outcomes"].terminated.all()


def test_outer_bounds(example):
    assert example["sampled_lift"] <= 0.21 <= example["tight_lift"] * (1 + 1e-9)
    assert example["tight_lift"] == pytest.approx(0.21, rel=1e-3)
    # All kinetic energy in the motion that lifts the corner: √(v² m G_nn), G_nn = 1/m + w²/(4 I)
    assert example["fast_lift"] == pytest.approx(sqrt(1 + 0.25 * 12 / 5), rel=1e-6)


def test_order_of_impacts(example):
    assert example["cosine_slender"] == pytest.approx((5 / 12 - 1 / 4) / (5 / 12 + 1 / 4), abs=1e-12)
    assert example["cosine_special"] == pytest.approx(0.0, abs=1e-12)
    difference = example["difference"]
    assert difference(2.0) == pytest.approx(0.375, abs=1e-9)  # twice the turning that two impacts leave, 3/16 rad/s
    assert difference(sqrt(2.0)) < 1e-8 and difference(1.0) < 1e-8
    assert difference(sqrt(2.0), 0.8) == pytest.approx(0.5, abs=1e-6)


def test_disk_stack(example):
    assert example["kept_speed"] == pytest.approx(1 / 7, rel=1e-9)
    assert example["parting_speed"] == pytest.approx(sqrt(3) / 7, rel=1e-9)
    assert example["spread"][0] > 0.1 and example["rough"].terminated.all()


def test_zeno_ball(example):
    landing = sqrt(2 / GRAVITY)
    zeno = 3 * landing  # t₁ + 2 e v₁ / (g (1 − e)) with e = 1/2
    assert zeno == pytest.approx(example["expected"], abs=1e-14)
    assert example["lower"] < zeno < example["upper"] + 1e-11 and example["upper"] - example["lower"] < 1e-6
    assert example["earliest"] - 1e-11 < zeno < example["latest"] + 1e-11
    assert example["latest"] - example["earliest"] < 1e-11
    # The first bounce k after which all others take less than 0.01 s: 4 t₁ / 2ᵏ of them
    assert example["bounces"] == ceil(log(4 * landing / 1e-2, 2))


def test_ball_on_sinusoid(example):
    """Or and Ames, Example 3. The last digit of 5.0731 is not ours: test/stability/test_published_zeno.py."""
    assert example["zeno_times"][0] == pytest.approx(3.761, abs=5e-4)
    assert example["zeno_times"][1] == pytest.approx(5.0731, abs=1.5e-4)
    np.testing.assert_allclose(example["zeno_points"], [[1.337, 0.973], [5.114, -0.920]], atol=5e-4)
    np.testing.assert_allclose(example["gap_accelerations"], [-0.986, -4.766], atol=1e-3)
    assert example["stays"] == [True, True]


def test_knee_stop(example):
    assert example["unlocking_angle"] == pytest.approx(0.0, abs=1e-5)
    assert example["locking_angle"] == pytest.approx(-40.0, abs=5.0)  # "about", read off a figure


def test_zeno_block(example):
    assert example["zeno_time"] == pytest.approx(2.67, abs=5e-3)
    assert example["zeno_arc"] == pytest.approx(28.4, abs=5e-2)
    assert example["contraction"] == pytest.approx(0.7, abs=1e-8)
    assert len(example["ends"]) > 10


def test_stop_at_the_hill(example):
    speed = example["stopping_speed"]
    assert speed == pytest.approx(0.03 * GRAVITY * tan(radians(30.0)), rel=1e-7)
    assert example["modes"](0.9 * speed) == ({1}, {0, 1})  # without the pseudo-impulse it goes up the hill anyway
    assert example["modes"](1.1 * speed) == ({1}, {1})


def test_rocking_to_rest(example):
    # Λ_n + Λ_t/μ + δt m g/2 = 0 at the corner that would lift: Λ_n = −7/3 m v, Λ_t = m v, μ = 100
    assert example["resting_speed"] == pytest.approx(0.03 * GRAVITY / 2 / (7 / 3 + 1 / 100), rel=1e-6)
    assert example["resting_speed"] == pytest.approx(0.063, abs=5e-4)  # as published
    landings = example["landings"]
    assert landings[-1] < example["resting_speed"] < landings[-2]
    np.testing.assert_allclose(np.divide(landings[1:], landings[:-1]), 0.7, rtol=1e-6)
    assert example["execution"].word[-1] == "{l, r}"


def test_four_curves(example):
    assert example["holds"] == {"a": False, "b": True, "c": False, "d": True}
    along = brentq(lambda x: quad(lambda s: sqrt(1 + (3 * s**2 / 8) ** 2), 0, x)[0] - 0.5, 0, 1)  # 0.5 m of y = x³/8
    assert example["end_height"] == pytest.approx(along**3 / 8, abs=1e-8)
    np.testing.assert_allclose(example["ends"]["a"], [0.5, 0.0], atol=1e-12)


def test_own_system(example):
    assert example["leaving_cosine"] == pytest.approx(2 / 3 + 0.3**2 / (3 * GRAVITY * 0.5), abs=1e-8)
    assert example["execution"].word == ("{hill}", "{}")


def test_own_hopper(example):
    # The spring's force swings about what carries the foot and the body: y'' = −k/m (y − y₀), from the landing on
    rate, rest = sqrt(4000.0 / 8.0), 0.5 - 8.0 * GRAVITY / 4000.0
    speed, stretched = sqrt(2 * GRAVITY * 0.2), 0.5 + 0.5 * GRAVITY / 4000.0

    def height(t):
        return rest + (0.5 - rest) * np.cos(rate * t) - speed / rate * np.sin(rate * t)

    stance = brentq(lambda t: height(t) - stretched, pi / rate, 1.5 * pi / rate)
    up = -(0.5 - rest) * rate * np.sin(rate * stance) - speed * np.cos(rate * stance)
    assert example["liftoff"].time - example["landing"].time == pytest.approx(stance, abs=1e-8)
    apex = 8.0 * stretched / 8.5 + (8.0 * up / 8.5) ** 2 / (2 * GRAVITY)
    assert example["apex"] == pytest.approx(apex, abs=1e-7)
    assert example["apex_by_hand"] == pytest.approx(apex, abs=1e-12)


def test_imu_alone(example):
    first, last = example["flight"]
    assert 0.3 < last - first < 0.4  # s: a hop of 11 cm takes 2 √(2 h/g) = 0.3 s, and the leg is longer when it lands
    assert example["worst_height"] < 0.03  # m, with joints and an inertial unit alone
    assert example["wrong_for"] < 0.01  # s


def test_own_robot(example):
    assert example["touchdown"] == pytest.approx(sqrt(2 * 0.05 / GRAVITY), abs=1e-9)
    assert len(example["foretold"]) > 40 and example["worst_error"] < 1e-9
    assert example["weight_carried"] == pytest.approx(6.5 * GRAVITY, rel=1e-3)  # it still swings by so much


def test_robot_impact_set(example):
    assert example["slowest"] == pytest.approx(0.25, abs=1e-9)
    assert example["fastest"] == pytest.approx(0.39, abs=1e-9)
    assert example["flat"].max() > 0.4 and example["flat"].min() < 0.25


def test_replay_a_recording(example):
    landing = sqrt(2 * 0.1 / GRAVITY)
    assert example["landing"] == pytest.approx(landing, abs=1e-9)
    assert example["f1"] == 1.0 and example["wrong"] == 0
    assert example["result"].states == 150 and example["result"].faults == {}
    # The recorded truth is 500 Hz: its touchdown is the first sample after the landing; half a step later is foretold
    late = 0.002 * ceil(landing / 0.002) - landing
    assert example["touchdown_error"] == pytest.approx(abs(late - 0.001), abs=1e-6)


def test_identify_material(example):
    found = example["found"]
    assert found.restitution.value == pytest.approx(0.4, abs=1e-4)
    assert found.friction.value == pytest.approx(0.15, abs=1e-4)
    assert found.used == 8 and found.contained[0] == 1.0


def test_salted_kalman_filter(example):
    matrix = np.array([[-0.8, 0.0], [1.8 * GRAVITY / 4.0, -0.8]])
    np.testing.assert_allclose(example["salted"](-4.0, np.eye(2)), matrix @ matrix.T, atol=1e-9)
    np.testing.assert_allclose(example["predicted"], example["exact"], rtol=1e-6)  # five bounces
    (salted, reset_only, ignoring), runs = example["scores"], example["RUNS"]
    low, high = chi2.interval(0.999, 2 * runs)
    assert low < 2 * runs * salted < high
    assert reset_only > 5.0 and ignoring > 50.0


def test_hop_covariance(example):
    salted = example["salted"]
    assert salted.rank == 36 - 4  # a gap and three velocities of the foot
    low, high = salted.interval(0.999)
    assert low < salted.ratio < high
    assert np.abs(salted.null).max() < 1e-3  # of the deviations before, which are 1e-5 rad and more
    assert example["smooth"].ratio > 100.0


def test_impact_invariant_tracking(example):
    assert example["peak"] > 40.0  # k_d times the planned jump, some 16 rad/s
    assert example["peak"] > 5.0 * example["projected_peak"]
    assert example["leaves"] > 2.0 * example["projected_leaves"]
    ends = [
        np.abs(rows[-1][0][7:] - example["plan"][-1][0][7:]).max() for rows in (example["plain"], example["invariant"])
    ]
    assert max(ends) < 0.1 and sum(row[5] for row in example["invariant"]) < 50  # both stand as planned after it


def test_limits_through_an_impact(example):
    assert example["thrown"].max() > 1.5 and example["kept"].max() < 1.0
    assert example["speed"] > example["slower"] > 0.3  # and yet it strikes


def test_every_example_is_in_the_table_and_has_a_test(root):
    scripts = {path.stem for path in (root / "examples").glob("*.py")}
    table = (root / "examples" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[`(\w+)\.py`\]\(\1\.py\) \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(scripts)
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")} & scripts
    assert tested | set(WITH_ROS) == scripts
    for name, test in WITH_ROS.items():
        assert f"{name}.py" in (root / test).read_text(encoding="utf-8")
    assert "examples/README.md" in (root / "README.md").read_text(encoding="utf-8")


def test_every_example_says_its_question_first_and_prints_its_number(root):
    for path in sorted((root / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert '__name__ == "__main__"' in text, path.name
        if path.stem not in WITH_ROS:
            assert re.match(r'"""[^"]*?\?', text.split("\n\n")[0]), path.name
            assert "print(" in text, path.name
            assert len(text.splitlines()) <= 70, path.name
