"""Messages of the demo and of the benchmarks that are serialised once: patched bytes are those of rclpy."""

import io
import threading
import time
from collections import deque

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not there: ./run setup installs it")

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.frames import Frame, read_frames
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.messages.envelope import PlainNames
from hybrid_contact_ros.messages.prepared import PreparedMessage
from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.nodes.demo import listener, robot
from hybrid_contact_ros.nodes.demo.score import DemoScore
from hybrid_contact_ros.ros.message_types import message_types

STAMP = 1_700_000_000_123_456_789


def test_a_state_in_bytes_is_the_state_in_messages():
    rng = np.random.default_rng(0)
    names = [f"joint_{i}" for i in range(5)]
    states = robot.StateMessages(names)
    for stamp in (STAMP, STAMP + 2_000_000):
        q, v, tau = rng.normal(size=12), rng.normal(size=11), rng.normal(size=5)
        odometry, joints = states.state(stamp, q, v, tau)
        base, state = deserialize_message(odometry, Odometry), deserialize_message(joints, JointState)
        for header in (base.header, state.header):
            assert (header.stamp.sec, header.stamp.nanosec) == divmod(stamp, 10**9)
        pose, twist = base.pose.pose, base.twist.twist
        o = pose.orientation
        assert [pose.position.x, pose.position.y, pose.position.z, o.x, o.y, o.z, o.w] == q[:7].tolist()
        found = [*(getattr(twist.linear, x) for x in "xyz"), *(getattr(twist.angular, x) for x in "xyz")]
        assert found == v[:6].tolist()
        assert (base.header.frame_id, base.child_frame_id, state.name) == ("odom", "base", names)
        assert [list(x) for x in (state.position, state.velocity, state.effort)] == [
            q[7:].tolist(),
            v[6:].tolist(),
            tau.tolist(),
        ]


def test_the_truth_in_bytes_is_what_the_encoder_says():
    names = ("a", "foot_b", "c")
    encoder = TruthEncoder(message_types(), PlainNames(names), "odom")
    truth = robot.TruthMessages(encoder, len(names))
    rng = np.random.default_rng(1)
    for closed, slipping in (((1, 0, 1), (0, 0, 1)), ((0, 0, 0), (0, 1, 0)), ((1, 1, 1), (1, 1, 0))):
        closed, slipping, force = np.array(closed, bool), np.array(slipping, bool), rng.normal(size=(3, 3))
        found = deserialize_message(truth.truth(STAMP, closed, force, slipping), ContactMode)
        # NaN is no number: what is not known is compared as text.
        assert str(found) == str(encoder.truth(STAMP, closed.tolist(), force, slipping.tolist()))


@pytest.mark.parametrize("path", ["name", "nothing", "header", "pos"])
def test_a_field_that_is_no_run_of_numbers_is_refused(path):
    with pytest.raises(ValueError, match=f"'{path}' is no run of numbers"):
        PreparedMessage("JointState", JointState(name=["a"], position=[0.0])).view(path)


def test_frames_are_written_some_at_a_time_and_none_is_lost():
    class Pipe(io.BytesIO):
        writes = 0

        def write(self, data):
            self.writes += bool(data)
            return super().write(data)

    frames, pipe, over = deque(), Pipe(), threading.Event()
    writer = threading.Thread(target=listener.write, args=(frames, pipe, over))
    writer.start()
    sent = [Frame(k % 8, k, bytes(k)) for k in range(200)]
    for frame in sent[:150]:
        frames.append(frame)
    limit = time.monotonic() + 30.0
    while frames and time.monotonic() < limit:
        time.sleep(0.01)
    frames.extend(sent[150:])
    over.set()
    writer.join()
    pipe.seek(0)
    assert list(read_frames(pipe)) == sent
    assert pipe.writes < 100


def test_frames_come_into_the_record_as_rclpy_would_read_them(root):
    urdf = example_urdf("go2_description/urdf/go2.urdf").read_text()
    score = DemoScore(urdf, EstimatorConfig.from_file(root / "config" / "go2.yaml"))
    names, record = score.record.contacts, score.record
    truth = robot.TruthMessages(TruthEncoder(message_types(), PlainNames(names), "odom"), len(names))
    topics = [topic for topic, _, _ in listener.TOPICS]
    said = []
    for k in range(300):
        stamp, closed = STAMP + 2_000_000 * k, np.full(4, 100 <= k < 200)
        says, force = np.array([102 <= k < 203] * 3 + [False]), np.full((4, 3), float(k))
        answer = truth.truth(stamp, says, force, says)
        score.take(Frame(topics.index("truth/contact_mode"), stamp, truth.truth(stamp, closed, force, ~closed)))
        score.take(Frame(topics.index("contact_mode"), stamp + 1000 * k, answer))
        said.append(deserialize_message(answer, ContactMode))
    assert record.closed.rows.tolist() == [[c.status >= 2 for c in message.contacts] for message in said]
    assert record.latency.rows[:, 0] == pytest.approx(1e-6 * np.arange(300), abs=1e-12)
    assert record.truth_force.rows[-1].tolist() == [299.0] * 4
    assert record.truth_closed().sum(axis=0).tolist() == [100] * 4
    assert 0.5 < record.summary()["scores"]["f1"] < 0.95  # three of four feet, 2 states late
    assert [row["mode"] for row in score.snapshot()["contacts"]] == ["open"] * 4
