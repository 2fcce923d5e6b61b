"""What a whole recording tells of its contacts afterwards is right wherever it says something, and it changes only
values of a file with which the estimator is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.estimation_scores.episodes import Episode, Source, states
from benchmarks.estimation_scores.faults import FAULTS
from benchmarks.estimation_scores.hand_tuned import plain_override
from benchmarks.estimation_scores.simulated import episode, made, simulated_sources
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.held_out import Check
from hybrid_contact_ros.identification.hindsight import hindsight
from hybrid_contact_ros.identification.noise import Episodes
from hybrid_contact_ros.identification.parameters import Parameters, _gains, identify_parameters

pytest.importorskip("mujoco")
SECONDS = 3.0


@pytest.fixture(scope="module")
def source() -> Source:
    return simulated_sources()["go2_fast"]


@pytest.fixture(scope="module")
def trot(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    """A Go2 that trots in MuJoCo, with its true contacts."""
    cache: Path = tmp_path_factory.mktemp("made")
    return episode("go2_fast", made("go2", "fast", SECONDS, cache))


def given(source: Source, found: Episode, efforts: bool = True) -> Episodes:
    """What an estimator is given of it."""
    rows = states(source.model(source.config), found.recording)
    return Episodes((rows if efforts else [replace(state, effort=None) for state in rows],))


@pytest.mark.parametrize("fault", ["none", "encoder noise", "effort scale and friction", "drift 1 cm/s", "3 ms offset"])
def test_what_hindsight_says_is_right_and_it_is_silent_seldom(source, trot, fault):
    found = hindsight(source.model(source.config), source.config, given(source, FAULTS[fault](trot)))
    assert found is not None and found.truth is not None and found.certain is not None
    told, sure = found.truth[0], found.certain[0] & trot.certain
    assert (told != trot.truth)[sure].mean() < 0.001
    assert sure[trot.truth].mean() > 0.8 and sure[~trot.truth].mean() > 0.8


def test_without_efforts_or_with_forces_in_the_air_there_is_no_hindsight(source, trot):
    model = source.model(source.config)
    assert hindsight(model, source.config, given(source, trot, efforts=False)) is None
    shaking = trot.recording.dq + 2.0 * np.random.default_rng(0).normal(size=trot.recording.dq.shape)
    noisy = replace(trot, recording=replace(trot.recording, dq=shaking))
    assert hindsight(model, source.config, given(source, noisy)) is None


def test_of_two_points_on_one_link_there_is_no_hindsight(source, trot):
    contacts = {name: {"link": c.link, "points": c.points, "radius": c.radius}
                for name, c in source.config.contacts.items()}  # fmt: skip
    contacts["again"] = next(iter(contacts.values()))
    config = EstimatorConfig.from_mapping({"contacts": contacts})
    assert hindsight(source.model(config), config, given(source, trot)) is None


def identified(source: Source, found: Episode, *settings: str) -> Parameters:
    return identify_parameters(
        source.model, plain_override(source.config, list(settings)), given(source, FAULTS["encoder noise"](found))
    )


def test_a_file_that_is_right_keeps_what_decides_and_a_plane_that_is_wrong_is_moved(source, trot):
    right = identified(source, trot)
    assert right.reference == "hindsight"
    assert not [path for path in right.values if not path.startswith("sensitivity.")]
    wrong = identified(source, trot, "environments.ground.offset=-0.01")
    assert wrong.values["environments.ground.offset"] == pytest.approx(0.0, abs=5e-4)
    assert wrong.score.score >= wrong.default.score


def checked(*wrong: int) -> Check:
    """Blocks of a hundred samples, half of them closed, with so many wrong ones in each."""
    return Check(np.array([[50.0 - w, 0.0, w, 50.0] for w in wrong]), True)


def test_without_a_truth_a_gain_must_be_worth_it_where_values_were_not_taken_from():
    bad, good = checked(*[3] * 10), checked(*[0] * 10)
    assert _gains(good, good, bad, bad, "hindsight")
    assert not _gains(bad, good, bad, bad, "hindsight")  # nothing won on the rest
    assert _gains(bad, good, bad, bad, "truth")
    assert not _gains(good, bad, good, bad, "truth")  # nothing won at all
    slightly = checked(1, *[0] * 9)
    assert not _gains(good, good, slightly, slightly, "hindsight")  # less than what hindsight does not see
