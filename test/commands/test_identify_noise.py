"""``hybrid-contact identify --out``: a parameter file from a recording that loads and has what the recording shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import TRUTH_MODE, write_recording

PUCK = """<robot name="puck"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CONFIG = """# a comment
/**:
  ros__parameters:
    contact_names: [tip]
    contacts:
      tip: {link: body, friction: 0.5}
"""
HEIGHT, NOISE, RATE = 0.002, 0.0004, 0.03  # m, m, m/s


def lifted(cycles: int) -> Recording:
    """A body that stands on ground 2 mm high, is lifted by 3 cm, carried on and set down, again and again."""
    rng, dt = np.random.default_rng(0), 0.002
    t = dt * np.arange(round(0.6 * cycles / dt))
    phase = np.maximum(t % 0.6 - 0.3, 0.0) / 0.3  # of a swing
    z = HEIGHT + 0.03 * np.sin(np.pi * phase) ** 2
    speed = 0.03 * np.pi / 0.3 * np.sin(2 * np.pi * phase)
    n = t.size
    position = np.column_stack([0.05 * np.floor(t / 0.6), np.zeros(n), z]) + NOISE * rng.normal(size=(n, 3))
    linear = np.column_stack([np.zeros((n, 2)), speed]) + RATE * rng.normal(size=(n, 3))
    return Recording(
        t, position, np.tile([0.0, 0, 0, 1], (n, 1)), linear, 0.01 * rng.normal(size=(n, 3)), contacts=("tip",),
        frames=("body",), closed=(phase <= 0.0)[:, None], urdf=PUCK,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("noise")
    write_recording(lifted(16), out / "puck.mcap")
    (out / "given.yaml").write_text(CONFIG)
    return out


def arguments(folder: Path, *more: str) -> list[str]:
    return ["identify", str(folder / "puck.mcap"), "--config", str(folder / "given.yaml"), *more]


def test_a_file_with_the_height_and_the_noise_of_a_recording_is_written_and_loads(folder, capsys):
    out = folder / "new.yaml"
    assert main(arguments(folder, "--truth", TRUTH_MODE, "--out", str(out), "--json")) == 0
    data = json.loads(capsys.readouterr().out)
    found = {each["name"]: each for each in data["measured"]}
    for name, true in (
        ("height of ground over its configured plane", HEIGHT),
        ("base position, noise", NOISE),
        ("base velocity, noise", RATE),
        ("gap of standing feet, noise", NOISE),
        ("gap rate of standing feet, noise", RATE),
    ):
        assert found[name]["low"] * 0.97 <= true <= found[name]["high"] * 1.03, found[name]
    assert found["joint positions, noise"]["why"]
    config, text = EstimatorConfig.from_file(out), out.read_text()
    assert config.contacts["tip"].friction == 0.5
    for path, value in data["values"].items():
        node = config
        for name in path.split("."):
            node = node[name] if isinstance(node, dict) else getattr(node, name)
        assert node == pytest.approx(value)
    assert config.environments["ground"].offset == pytest.approx(HEIGHT, abs=2e-4)
    assert "was 0.0" in text and "95 %" in text and "Not identifiable from this recording" in text and "kept: " in text
    assert data["held_out"]["identified"] >= data["held_out"]["given"] - 1e-9


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--truth", "/nothing", "--out", "x.yaml"), "no topic /nothing"),
        (("--truth", "/odom", "--out", "x.yaml"), "a truth has hybrid_contact_msgs/msg/ContactMode"),
        (("--truth", TRUTH_MODE), "--truth is for --noise"),
        (("--landings", "--noise"), "leave it out for --noise"),
    ],
)
def test_mistakes_are_told(folder, capsys, monkeypatch, more, said):
    monkeypatch.chdir(folder)
    assert main(arguments(folder, *more)) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (folder / "x.yaml").exists()


def test_the_given_file_is_not_overwritten(folder, capsys):
    assert main(arguments(folder, "--out", str(folder / "given.yaml"))) == 2
    assert "name another one" in " ".join(capsys.readouterr().err.split())
    assert (folder / "given.yaml").read_text() == CONFIG
