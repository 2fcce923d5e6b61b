"""Recordings written as bags: what is not known is left out."""

from __future__ import annotations

from dataclasses import replace

from hybrid_contact_ros.recordings.write import write_recording


def test_a_recording_without_velocities_is_written_without_them(fall, tmp_path):
    bare = replace(fall, dq=None, effort=None)
    counts = write_recording(bare, tmp_path / "bare.mcap")
    assert counts["/joint_states"] == fall.time.size
