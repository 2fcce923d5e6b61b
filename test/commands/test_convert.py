"""Published recordings become rosbag2 recordings that say the same."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.commands import convert
from hybrid_contact_ros.replay.bags import BagReader
from hybrid_contact_ros.replay.recordings import START_NS, read


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    convert.add_arguments(parser)
    return convert.run(parser.parse_args([str(a) for a in arguments]))


def messages(bag, topic: str) -> list:
    with BagReader(bag) as reader:
        return [(time, msg) for _, time, msg in reader.messages([topic])]


@pytest.mark.parametrize("name", ["walk.mcap", "walk.db3", "walk"])
def test_a_recording_survives_the_round_trip_to_the_bit(fall, tmp_path, name):
    counts = convert.write_recording(fall, tmp_path / name)
    n = fall.time.size
    assert counts == {
        "/odom": n, "/joint_states": n, "/truth/contact_mode": n, "/truth/impact": 1, "/robot_description": 1,
    }  # fmt: skip
    for k, (time, msg) in enumerate(messages(tmp_path / name, "/joint_states")):
        assert time == START_NS + k * 1_000_000 == msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        assert tuple(msg.name) == fall.joints
        np.testing.assert_array_equal(msg.position, fall.q[k])
        np.testing.assert_array_equal(msg.effort, fall.effort[k])
    for k, (_, msg) in enumerate(messages(tmp_path / name, "/odom")):
        assert msg.pose.pose.position.z == fall.position[k, 2] and msg.twist.twist.linear.z == fall.linear[k, 2]
        assert msg.pose.pose.orientation.w == 1.0
    for k, (_, msg) in enumerate(messages(tmp_path / name, "/truth/contact_mode")):
        assert msg.mode == (3 if fall.closed[k, 0] else 0)
        assert [c.force_estimate.z for c in msg.contacts] == fall.force[k, :, 2].tolist()
    ((time, impact),) = messages(tmp_path / name, "/truth/impact")
    np.testing.assert_array_equal(impact.v_minus, fall.impacts[0].v_minus)
    assert impact.impact_time.sec * 10**9 + impact.impact_time.nanosec < time
    ((_, description),) = messages(tmp_path / name, "/robot_description")
    assert description.data == fall.urdf


def test_cube_tosses_have_twists_that_are_the_poses_differences(shared_file, tmp_path):
    path = shared_file("cube_tosses", "trajectories.npz")
    recording = read("cube", path, 4)
    with np.load(path) as data:
        i = data["toss_id"].tolist().index(4)
        rows = slice(data["start"][i], data["start"][i] + data["length"][i])
        position, wxyz, rate = data["pos"][rows], data["quat_wxyz"][rows], float(data["sample_rate_hz"])
    back = Rotation.from_quat(np.roll(wxyz, -1, axis=1))
    np.testing.assert_allclose(back.apply(recording.linear)[1:], np.diff(position, axis=0) * rate, atol=1e-9)
    assert command("cube", path, tmp_path / "toss.mcap", "--episode", "4") == 0
    assert len(messages(tmp_path / "toss.mcap", "/odom")) == len(position)
    assert '<mass value="0.37"/>' in messages(tmp_path / "toss.mcap", "/robot_description")[0][1].data


def test_observed_impacts_of_tosses_are_in_the_base_frame_and_lose_energy(shared_file):
    recording = read("cube", shared_file("cube_tosses", "trajectories.npz"))
    assert len(recording.impacts) > 500
    mass = np.array([0.37] * 3 + [0.00081] * 3)
    lost = [impact.v_minus @ (mass * impact.v_minus) > impact.v_plus @ (mass * impact.v_plus) for impact in
            recording.impacts]  # fmt: skip
    assert np.mean(lost) > 0.95
    assert (np.diff(recording.time) > 0).all()


def test_go2_episodes_end_where_they_are_valid_and_carry_effort_and_forces(shared_file, tmp_path):
    path = shared_file("go2_mujoco", "drop_10.npz")
    with np.load(path) as data:
        rows = data["time"] <= data["valid_until"]
        tau, force, v, time = data["tau"][rows], data["foot_force"][rows], data["v"][rows], data["time"][rows]
    assert command("go2", path, tmp_path / "drop") == 0
    joint_states = messages(tmp_path / "drop", "/joint_states")
    assert len(joint_states) == rows.sum()
    np.testing.assert_array_equal(np.array([msg.effort for _, msg in joint_states]), tau.astype(float))
    truth = messages(tmp_path / "drop", "/truth/contact_mode")
    np.testing.assert_array_equal([[c.force_estimate.z for c in msg.contacts] for _, msg in truth], force[:, :, 2])
    (_, impact) = messages(tmp_path / "drop", "/truth/impact")[0]
    k = int(np.searchsorted(time, impact.impact_time.sec - 1 + impact.impact_time.nanosec * 1e-9 - 1e-6))
    np.testing.assert_array_equal(impact.v_minus, v[k - 1].astype(float))
    # The legs fold, so the trunk goes on falling for a while; it is the joints that jump.
    assert impact.v_minus[2] < -2.0 and np.abs(impact.velocities - impact.v_minus).max() > 5.0


def test_cassie_landings_have_their_twist_in_the_base_and_effort_where_there_are_motors(shared_file, tmp_path):
    path = shared_file("cassie_jump", "jump_01.npz")
    recording = read("cassie", path)
    with np.load(path) as data:
        rotation = Rotation.from_quat(np.roll(data["base_quat_wxyz"], -1, axis=1))
        np.testing.assert_allclose(rotation.apply(recording.linear), data["base_vel_world"], atol=1e-12)
        touchdown = data["touchdown_time_inferred"]
    springs = [i for i, name in enumerate(recording.joints) if "spring" in name]
    assert len(springs) == 2 and not recording.effort[:, springs].any() and recording.effort.any()
    first = recording.time[recording.closed.argmax(axis=0)]
    seen = np.isfinite(touchdown)
    assert (first[seen] >= touchdown[seen]).all() and (first[seen] < touchdown[seen] + 6e-4).all()
    assert command("cassie", path, tmp_path / "jump.db3") == 0


def test_icub_walking_is_converted_without_effort(shared_file, tmp_path):
    assert command("icub", shared_file("icub_walking", "walking.npz"), tmp_path / "walk.mcap") == 0
    time, msg = messages(tmp_path / "walk.mcap", "/joint_states")[5]
    assert len(msg.name) == 26 and len(msg.effort) == 0 and time > START_NS


def test_the_hopper_is_a_fixed_base_with_joints_that_can_be_renamed(shared_file, tmp_path, capsys):
    path = shared_file("hopper_jump", "hopper_jump.npz")
    assert command("hopper", path, tmp_path / "hop.mcap", "--joint-names", "z,HFE,KFE") == 0
    with BagReader(tmp_path / "hop.mcap") as reader:
        assert "/odom" not in reader.topics
    assert list(messages(tmp_path / "hop.mcap", "/joint_states")[0][1].name) == ["z", "HFE", "KFE"]
    assert "--urdf" in capsys.readouterr().err
    with pytest.raises(ValueError, match="2 names"):
        command("hopper", path, tmp_path / "other.mcap", "--joint-names", "a,b")


def test_files_of_another_kind_are_refused_by_what_is_missing(tmp_path):
    np.savez(tmp_path / "x.npz", time=np.arange(3.0))
    with pytest.raises(ValueError, match="not a go2 recording: it has no array 'valid_until'"):
        read("go2", tmp_path / "x.npz")
    (tmp_path / "y.npz").write_bytes(b"PK nonsense")
    with pytest.raises(ValueError, match="cannot be read"):
        read("icub", tmp_path / "y.npz")
    with pytest.raises(ValueError, match="no such file"):
        read("hopper", tmp_path / "z.npz")
    with pytest.raises(ValueError, match="one episode"):
        read("go2", tmp_path / "x.npz", 3)


def test_a_urdf_that_is_not_there_is_an_error_before_anything_is_written(tmp_path):
    np.savez(tmp_path / "h.npz", time=np.arange(3) * 0.1, q=np.zeros((3, 2)), dq=np.zeros((3, 2)), tau=np.zeros((3, 2)),
             base_height=np.zeros(3), foot_force=np.zeros((3, 3)), contact_force_1N=np.zeros(3, bool))  # fmt: skip
    with pytest.raises(ValueError, match="cannot read the URDF"):
        command("hopper", tmp_path / "h.npz", tmp_path / "out.mcap", "--urdf", tmp_path / "none.urdf")
    assert not (tmp_path / "out.mcap").exists()
