"""Recordings that are made on ground that is no level floor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.estimation_scores.features import features
from benchmarks.estimation_scores.simulated import (
    CASES,
    FALLS,
    STEPPED,
    episode,
    left_out_sources,
    made,
    simulated_sources,
    stepped_sources,
    terrain_of,
)
from benchmarks.estimation_scores.terrain import Terrain, TerrainRobot
from benchmarks.estimation_scores.treads import touchdowns


def test_tiles_are_no_higher_than_they_say_and_blocks_are_of_one_height():
    grid = np.stack(np.meshgrid(np.linspace(-2, 5, 57), np.linspace(-2, 2, 33)), axis=-1).reshape(-1, 2)
    tiles, blocks = Terrain(tile=0.25, height=0.015), Terrain(tile=0.4, height=0.05, blocks=True)
    assert tiles.below(grid).min() >= 0.0 and 0.01 < tiles.below(grid).max() <= 0.015
    assert set(np.unique(blocks.below(grid))) == {0.0, 0.05}
    assert Terrain(slope=0.1).below(np.array([[2.0, 1.0]])) == pytest.approx([2.0 * math.tan(0.1)])


@pytest.mark.parametrize("terrain", [Terrain(slope=math.radians(10)), Terrain(tile=0.25, height=0.015)])
def test_forces_of_a_robot_that_stands_carry_its_weight_and_its_gaps_are_closed(terrain):
    from benchmarks.gaits import record

    robot = TerrainRobot("go2", terrain)
    data = record(robot, "trot", duration=0.45)
    force = data["foot_force"][-100:].sum(axis=1).mean(axis=0)
    assert force[2] == pytest.approx(9.81 * robot.mass, rel=0.02)
    assert np.abs(force[:2]).max() < 0.05 * force[2]
    closed = data["foot_contact"][-100:]
    assert closed.any(axis=1).all() and np.abs(robot.gaps(data["foot_pos"])[-100:][closed]).max() < 0.001


def test_what_is_made_is_kept_and_read_again(tmp_path):
    first, again = (made("go2", "push", 0.05, tmp_path) for _ in range(2))
    assert [p.suffix for p in tmp_path.iterdir()] == [".npz"]
    assert all(np.array_equal(first[k], again[k]) for k in first)
    found = episode("go2_push", again)
    assert found.truth.shape == found.gap.shape == (50, 4) and found.recording.effort.shape == (50, 12)
    assert set(simulated_sources()) == {f"{r}_{c}" for r in ("go2", "anymal") for c in CASES if (r, c) not in FALLS}
    assert left_out_sources() and not any(n.startswith(("go2", "anymal")) for n in left_out_sources())


def test_leg_forces_of_a_robot_that_stands_still_add_up_to_its_weight(tmp_path):
    """Both with and without accelerations, and each foot's is the force of the ground."""
    source = simulated_sources()["anymal_stop"]
    found = episode("anymal_stop", made("anymal", "stop", 0.45, tmp_path))
    model = source.model(source.config)
    seen = features(source, model, found)
    true = found.force[-50:, :, 2]
    for name in ("force", "observer"):
        assert seen[name][-50:].sum(axis=1).mean() == pytest.approx(true.sum(axis=1).mean(), rel=0.03)
        assert np.abs(seen[name][-50:].mean(axis=0) - true.mean(axis=0)).max() < 0.1 * true.mean()
    assert (
        seen["share"][-50:].sum(axis=1) == pytest.approx(1.0)
        and np.abs(seen["gap"][-50:] - found.gap[-50:]).max() < 1e-3
    )
    blind = features(source, model, replace(found, recording=replace(found.recording, effort=None)))
    assert set(blind) == {"gap", "height", "rate", "speed"}


def test_stairs_rise_by_one_step_a_tread_and_a_tread_is_as_wide_as_they_are():
    stairs = Terrain(tile=0.28, height=0.05, stairs=True)
    along = np.column_stack([np.linspace(-0.9, 3.9, 2001), np.linspace(-1.4, 1.4, 2001)])
    tops = stairs.below(along)
    rises = np.flatnonzero(np.diff(tops))
    assert (tops[along[:, 0] < 0.35] == 0.0).all() and np.diff(tops)[rises] == pytest.approx(0.05)
    assert np.diff(along[rises, 0]) == pytest.approx(0.28, abs=0.005)
    for tread in np.unique(stairs.tiles(along)[:, 0]):
        assert np.ptp(tops[stairs.tiles(along)[:, 0] == tread]) == 0.0


def test_a_tread_is_known_once_another_foot_has_been_on_it(tmp_path):
    """The hind feet of a robot that climbs stairs come to treads that the front feet know; a riser is new to the first
    foot that is on it."""
    source = stepped_sources()["go2_stairs"]
    found = episode("go2_stairs", made("go2", "stairs", 4.0, tmp_path, STEPPED))
    model, terrain = source.model(source.config), terrain_of("stairs", STEPPED)
    events = touchdowns(model, terrain, found)
    assert len(events) > 15 and [e.time for e in events] == sorted(e.time for e in events)
    assert {e.foot for e in events if not e.known} <= {0, 1}
    assert all(e.known for e in events if e.foot in (2, 3)) and 1 <= sum(not e.known for e in events) <= 5
