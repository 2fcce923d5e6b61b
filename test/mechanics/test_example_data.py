"""Finding the robots of example-robot-data."""

import pytest

from hybrid_contact_ros.mechanics.example_data import example_urdf


def test_robots_of_a_sourced_workspace_are_found(tmp_path, monkeypatch):
    path = tmp_path / "share/example-robot-data/robots/mine/mine.urdf"
    path.parent.mkdir(parents=True)
    path.write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    assert example_urdf("mine/mine.urdf") == path


def test_a_missing_robot_says_what_to_install():
    with pytest.raises(FileNotFoundError, match="install example-robot-data"):
        example_urdf("nobody/nobody.urdf")
