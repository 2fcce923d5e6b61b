"""The command line: verbs, exit codes, and one clear line for a mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros import __version__
from hybrid_contact_ros.cli import VERBS, main

ROOT = Path(__file__).resolve().parents[2]
CUBE = (str(ROOT / "config" / "cube.urdf"), str(ROOT / "config" / "cube.yaml"))


@pytest.fixture
def hop(tmp_path) -> Path:
    """A fixed-base recording of the hopper's layout, with a model of two masses on a slider."""
    n = 120
    time = np.arange(n) * 0.002
    height = np.maximum(0.3 - 0.5 * 9.81 * time**2, 0.2)
    np.savez(
        tmp_path / "hop.npz", time=time, q=np.zeros((n, 2)), dq=np.zeros((n, 2)), tau=np.zeros((n, 2)),
        base_height=height, foot_force=np.zeros((n, 3)), contact_force_1N=height <= 0.2,
    )  # fmt: skip
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("world_base", "body", "thigh", "foot"))
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'

    def joint(name: str, kind: str, parent: str, child: str, axis: str, drop: float) -> str:
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0 0 {-drop}"/><axis xyz="{axis}"/>{limit}</joint>'
        )

    (tmp_path / "hop.urdf").write_text(
        f'<robot name="hop">{links}{joint("slider", "prismatic", "world_base", "body", "0 0 1", 0.0)}'
        f"{joint('hip', 'revolute', 'body', 'thigh', '0 1 0', 0.1)}"
        f"{joint('knee', 'revolute', 'thigh', 'foot', '0 1 0', 0.1)}</robot>"
    )
    (tmp_path / "hop.yaml").write_text("{floating_base: false, contacts: {foot: {link: foot}}}")
    return tmp_path


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out.strip() == f"hybrid-contact {__version__}"


def test_help_names_every_verb_and_loads_none_of_them():
    code = (
        "import sys; from hybrid_contact_ros.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'pinocchio', 'rclpy', 'rosbags', 'mujoco', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr
    assert all(verb in run.stdout for verb in VERBS)


@pytest.mark.parametrize("arguments", [[], ["no-such-verb"], ["replay"], ["check", "only.urdf"]])
def test_wrong_arguments_end_with_2_and_usage(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and "usage: hybrid-contact" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "nowhere.urdf", CUBE[1]], "no such URDF: nowhere.urdf"),
        (["check", CUBE[0], "nowhere.yaml"], "nowhere.yaml"),
        (["check", CUBE[1], CUBE[1]], "check:"),
        (["replay", "nowhere", "--config", CUBE[1]], "no such recording: nowhere"),
        (["replay", str(ROOT), "--config", CUBE[1]], "no metadata.yaml"),
        (["replay", CUBE[0], "--config", "nowhere.yaml"], "cannot read the configuration nowhere.yaml: No such file"),
        (["identify", CUBE[0], "--config", "nowhere.yaml"], "cannot read the configuration nowhere.yaml: No such file"),
        (["identify", "nowhere", "--config", CUBE[1]], "no such recording: nowhere"),
        (["identify", "nowhere", "--config", CUBE[1], "--speed", "nan"], "speed is nan"),
        (["replay", "nowhere", "--config", str(ROOT)], "Is a directory"),
        (["replay", "nowhere", "--config", CUBE[1], "--urdf", "nowhere.urdf"], "no such URDF: nowhere.urdf"),
        (
            ["replay", "nowhere", "--config", CUBE[1], "--out", CUBE[0] + "/out.mcap"],
            f"cannot write {CUBE[0]}/out.mcap",
        ),
        (["convert", "go2", CUBE[0], CUBE[0]], "is the recording itself"),
        (["convert", "go2", CUBE[0], CUBE[0] + "/out.mcap"], f"cannot write {CUBE[0]}/out.mcap"),
        (["convert", "go2", CUBE[0], CUBE[1]], "exists already"),
        (["convert", "go2", CUBE[0], CUBE[1], "--force"], "is a file but no recording; it is not replaced"),
        (["demo", "--out", CUBE[0]], f"cannot write the picture into {CUBE[0]}"),
        (["demo", "--config", "nowhere.yaml"], "no such configuration: nowhere.yaml"),
        (["demo", "--seconds", "nan"], "--seconds is nan"),
        (["demo", "--domain", "500"], "--domain is 500; ROS has 0 to 232"),
        (["convert", "go2", "nowhere.npz", "out.mcap"], "no such file: nowhere.npz"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, words, capfd):
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == "" and words in err and "Traceback" not in err and err.startswith("hybrid-contact ")


def test_debug_shows_the_traceback():
    with pytest.raises(ValueError, match="no such URDF"):
        main(["check", "nowhere.urdf", CUBE[1], "--debug"])


def test_a_recording_goes_from_npz_to_scores(hop, capsys):
    paths = [str(hop / name) for name in ("hop.npz", "hop.mcap")]
    assert main(["convert", "hopper", *paths, "--urdf", str(hop / "hop.urdf")]) == 0
    replay = ["replay", paths[1], "--config", str(hop / "hop.yaml")]
    assert main([*replay, "--truth", "/truth/contact_mode"]) == 0
    out = capsys.readouterr().out
    assert "120 states" in out and "F1" in out and (hop / "hop_predictions.mcap").is_file()
    # The same name again is not overwritten, unless it is said.
    assert main(replay) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*replay, "--force"]) == 0
    capsys.readouterr()
    assert main([*replay, "--no-out", "--json", "--truth", "/truth/contact_mode"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["states"] == 120 and result["out"] is None and 0 <= result["scores"]["f1"] <= 1


def test_a_cut_recording_ends_with_3_and_says_how_far_it_was_read(hop, capsys):
    bag = hop / "hop.mcap"
    assert main(["convert", "hopper", str(hop / "hop.npz"), str(bag), "--urdf", str(hop / "hop.urdf")]) == 0
    bag.write_bytes(bag.read_bytes()[: bag.stat().st_size // 2])
    replay = ["replay", str(bag), "--config", str(hop / "hop.yaml"), "--no-out"]
    assert main(replay) == 3
    out = capsys.readouterr().out
    assert "is not whole" in out and "What could be read" in out
    assert main([*replay, "--json"]) == 3
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert 20 < result["states"] < 110 and "is not whole" in result["damage"] and "is not whole" in captured.err


def test_the_namespace_of_a_recording_is_an_option(hop, capsys):
    bag = str(hop / "hop.mcap")
    assert main(["convert", "hopper", str(hop / "hop.npz"), bag, "--urdf", str(hop / "hop.urdf")]) == 0
    replay = ["replay", bag, "--config", str(hop / "hop.yaml"), "--no-out"]
    assert main([*replay, "--namespace", "my_robot"]) == 2
    assert "/my_robot/robot_description" in capsys.readouterr().err
    names = ["--joint-states", "/joint_states", "--odom", "/odom", "--robot-description", "/robot_description"]
    assert main([*replay, "--namespace", "my_robot", *names]) == 0


def test_a_reader_that_has_seen_enough_is_no_error():
    command = f"{sys.executable} -m hybrid_contact_ros.cli check {CUBE[0]} {CUBE[1]}"
    code = f"{command} | true; echo ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (run.stdout.strip(), run.stderr) == ("141", "")


def test_a_recording_without_a_usable_state_ends_with_1_and_says_why(hop, capsys):
    bag = str(hop / "hop.mcap")
    names = ["--joint-names", "slider,hip,elbow"]
    assert main(["convert", "hopper", str(hop / "hop.npz"), bag, "--urdf", str(hop / "hop.urdf"), *names]) == 0
    assert main(["replay", bag, "--config", str(hop / "hop.yaml"), "--no-out"]) == 1
    out = capsys.readouterr().out
    assert "no state" in out and "joint_names" in out and "knee" in out
