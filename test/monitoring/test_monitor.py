"""What diagnostics say of a period: nothing of a normal one, and every fault of a bad one, worst first."""

from __future__ import annotations

from types import SimpleNamespace as Space

import pytest

from hybrid_contact_ros.config import DiagnosticsConfig, EstimatorConfig, InputConfig
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import ADVICE, CONSEQUENCES, REASONS, USED, Fault, sentence
from hybrid_contact_ros.monitoring.budget import Budget
from hybrid_contact_ros.monitoring.monitor import Monitor
from hybrid_contact_ros.monitoring.verdict import Level, Period, judge

BODY = """<robot name="leg"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="prismatic"><parent link="base"/><child link="foot"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"""
MODEL = RigidBodyModel.from_urdf(BODY, EstimatorConfig())
S, MS = 1_000_000_000, 1_000_000
LIMITS = DiagnosticsConfig()


class Stream:
    """A robot's two streams at 500 Hz into an intake, and a monitor that looks at it once a second."""

    def __init__(self) -> None:
        self.intake, self.monitor = Intake(MODEL, InputConfig()), Monitor(LIMITS, sets=True)
        self.k = 0

    def second(self, lost=0.0, odometry_missing=0.0, cut=0.0, cost_ms=0.6, publishers=1, active=True, **bad):
        """One second: shares of states that are lost, without odometry, or with a set cut by its deadline."""
        answered = 0
        for i in range(500):
            self.k += 1
            due = lambda share, i=i: int((i + 1) * share) > int(i * share)  # noqa: E731
            if due(lost):
                continue
            at = S + self.k * 2 * MS
            header = Space(stamp=Space(sec=at // S, nanosec=at % S), frame_id="odom")
            base = Space(
                header=header,
                child_frame_id="base",
                pose=Space(
                    pose=Space(
                        position=xyz(bad.get("glide", 0.0) * 0.002 * self.k, 0, 0),
                        orientation=xyz(0, 0, 0, bad.get("w", 1.0)),
                    ),
                    covariance=[0.0] * 36,
                ),
                twist=Space(twist=Space(linear=xyz(0, 0, 0), angular=xyz(0, 0, 0)), covariance=[0.0] * 36),
            )
            knee = bad.get("sink", 0.0) * (0.002 * self.k - 2.0)
            joints = Space(header=header, name=["knee"], position=[knee], velocity=[bad.get("rate", 0.0)], effort=[0.0])
            if due(bad.get("bad", 0.0)):
                joints.velocity = []
            found = None if due(odometry_missing) else self.intake.odometry(base, at, self.k, b"o")
            found = self.intake.joint_state(joints, at, self.k, b"j") or found
            if found is not None:
                answered += 1
                self.monitor.answered(MS, int(cost_ms * MS))
                self.monitor.spent(int(cost_ms * MS))
                if due(cut):
                    self.monitor.sets.published(MS, True)
        idle = "" if active else "inactive"
        return self.monitor.report(1.0, idle, self.intake, {"joint_states": publishers, "odom": 1})


def xyz(*values):
    return Space(**dict(zip("xyzw", values, strict=False)))


def test_a_normal_stream_is_ok_in_sixty_of_sixty_periods():
    """With sets cut by their deadline, by design, and now and then a lost state or a missing odometry."""
    stream = Stream()
    for _ in range(60):
        verdict, values = stream.second(lost=0.01, odometry_missing=0.01, cut=0.5)
        assert verdict == [(Level.OK, "predicting")]
    assert int(values["impact sets cut by their deadline"]) > 200
    assert int(values["joint_states lost"]) == 5 and float(values["share answered"]) > 0.97


@pytest.mark.parametrize("lost", [0.14, 0.5, 0.84])
def test_an_overloaded_stream_warns_with_the_share_that_was_lost(lost):
    stream = Stream()
    stream.second()
    for _ in range(5):
        ((level, text),), values = stream.second(lost=lost, cost_ms=1.6 / (1.0 - lost))
        assert level == Level.WARN
        assert f"joint_states: {100 * lost:.0f} % of states lost (" in text
        assert "busy" in text and "of which one comes every 2." in text
    assert float(values["share answered"]) == pytest.approx(1.0 - lost, abs=0.01)
    assert values["losses counted by"] == "sequence numbers"


def test_losses_at_an_idle_node_are_not_blamed_on_it():
    ((_, text),), _ = Stream().second(lost=0.3, cost_ms=0.1)
    assert "% of the time only: look at the load of the machine and the network" in text


def test_two_faults_are_both_said():
    stream = Stream()
    stream.second()
    verdict, _ = stream.second(lost=0.3, bad=0.17, publishers=2)
    assert [level for level, _ in verdict] == [Level.WARN] * 3
    told = " ".join(text for _, text in verdict)
    assert "30 % of states lost" in told and "velocity is missing" in told and "2 publishers" in told


def test_a_bad_quaternion_is_told_before_what_follows_from_it():
    verdict, values = Stream().second(w=0.0)
    assert verdict[0][0] == Level.ERROR
    assert "no state could be used: 100 % refused: odom: the orientation is not a unit quaternion" in verdict[0][1]
    assert "its norm is 0" in verdict[0][1] and ADVICE["quaternion_norm"] in verdict[0][1]
    assert any("no odometry that can be used" in text and "unit quaternion" in text for _, text in verdict[1:])
    assert values["input fault: quaternion_norm"] == "500"


def test_odometry_that_turns_bad_is_told_though_states_go_on_for_a_while():
    stream = Stream()
    stream.second()
    verdict, _ = stream.second(w=0.5)
    assert "unit quaternion" in verdict[0][1]
    late = next(text for _, text in verdict if "too far from the joint state" in text)
    assert "input.odometry_timeout is 0.05 s" in late and "the last one was refused" in late


def test_a_refusal_in_a_thousand_is_a_number_only():
    stream = Stream()
    stream.second()
    verdict, values = stream.second(bad=0.004)
    assert verdict == [(Level.OK, "predicting")] and values["input fault: no_velocity"] == "2"
    assert stream.second(bad=0.02)[0][0][0] == Level.WARN


def test_an_implausible_joint_is_named_with_its_value():
    (worst, *_), _ = Stream().second(rate=1e6)
    assert worst[0] == Level.ERROR and "velocity of joint 'knee' is 1e+06 m/s" in worst[1]
    assert "input.limit_factor" in worst[1]


def test_silence_of_both_inputs_is_stale_and_of_one_an_error_that_names_it():
    both = Period(1.0, "joint_states", ("joint_states", "odom"))
    assert judge(both, LIMITS) == [(Level.STALE, "no input on joint_states and odom")]
    one = Period(1.0, "joint_states", ("joint_states", "odom"), arrived={"odom": 500})
    assert judge(one, LIMITS) == [(Level.ERROR, "no input on joint_states")]


def test_an_error_of_ours_stands_first():
    stream = Stream()
    stream.monitor.failed("internal", "internal error: ZeroDivisionError()")
    verdict, _ = stream.second(lost=0.5)
    assert verdict[0][0] == Level.ERROR and "ZeroDivisionError" in verdict[0][1] and len(verdict) == 2
    assert stream.second()[0] == [(Level.OK, "predicting")]


def test_without_sequence_numbers_a_node_that_computes_all_the_time_is_suspected():
    period = Period(1.0, "joint_states", ("joint_states",), 50, {"joint_states": 50}, busy=0.99, exact=False)
    ((level, text),) = judge(period, LIMITS)
    assert level == Level.WARN and "lost uncounted" in text


def test_what_is_left_out_is_said():
    budget = Budget(Parts.ALL, Parts.MODE, 0.25)
    budget._gone = [Parts.IMPACT, Parts.STABILITY]
    stream = Stream()
    stream.second()
    intake = stream.intake
    _, values = stream.monitor.report(1.0, "", intake, {"joint_states": 1, "odom": 1}, budget.left_out)
    assert values["left out"] == "impact_set, constraint_stability"
    period = Period(1.0, "odom", ("odom",), 5, {"odom": 5}, left_out=budget.left_out)
    assert judge(period, LIMITS) == [
        (Level.WARN, "left out to keep up with odom: impact_set, constraint_stability"),
    ]


def test_an_inactive_node_says_no_more_than_that():
    assert Stream().second(lost=0.9, active=False)[0] == [(Level.OK, "inactive")]


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_names_its_subject_and_what_to_do(reason):
    text = sentence(Fault("odom", reason), "12 of 13")
    assert text.startswith(f"odom: {REASONS[reason]} (12 of 13); ")
    assert text.endswith(ADVICE[reason]) and len(ADVICE[reason]) > 10


def test_reasons_are_sorted_into_refused_used_and_followed():
    assert set(ADVICE) == set(REASONS) and USED.issubset(REASONS) and CONSEQUENCES.issubset(REASONS)
    assert "state" not in USED and "stale" in USED and "clock_set_ahead" in USED


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            {"sink": 0.3},
            "joint_states: velocities are not the rates of the positions (knee: 0 while the positions move",
        ),
        ({"sink": 0.3, "rate": 0.3}, ""),
        ({"glide": 0.4}, "odom: pose and twist are not those of one motion"),
    ],
)
def test_streams_that_contradict_themselves_are_warned_of_in_every_period(bad, words):
    """What a second of messages shows is told of each message after it, so that it is more than the few that are
    reported."""
    stream = Stream()
    for _ in range(4):
        stream.second(**bad)
    for _ in range(3):
        said = stream.second(**bad)[0]
        assert said == [(Level.OK, "predicting")] if not words else any(words in text for _, text in said)
