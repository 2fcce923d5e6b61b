"""Samples and searches in the plane, against the general solver and the search that goes through all modes."""

import numpy as np
import pytest

from benchmarks import planar_campaign
from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros.impacts import sampler
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.planar_few import prepare
from hybrid_contact_ros.kernels.impacts.planar_pieces import SINGULAR_PIECE, Pieces
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")


@pytest.mark.parametrize("family", planar_campaign.FAMILIES)
def test_searches_find_what_the_slow_enumeration_finds(family):
    """``python -m benchmarks.planar_campaign`` has 10⁴ increments a family."""
    told = planar_campaign.run(family, 60 if family == "disks" else 200, seed=1)
    assert told["increments"] >= 60
    assert told["missed"] == 0
    assert told["residual"] < 1e-9
    assert told["several"] > (0 if family in ("compass gait", "disks", "random") else -1)


def with_and_without(monkeypatch, problem, step, steps, **options):
    """The same set by the samples for the plane, and by those for any problem."""
    planar = post_impact_set(problem, step, 40, steps, **options)
    with monkeypatch.context() as patch:
        patch.setattr(SolutionSearch, "__init__", without_planar(SolutionSearch.__init__))
        general = post_impact_set(problem, step, 40, steps, **options)
    return planar, general


def without_planar(init):
    def replaced(self, space):
        init(self, space)
        self.planar = None

    return replaced


@pytest.mark.parametrize("make", [rocking_block_impact, compass_gait_impact, ramone_impact, disk_stacking_impact])
def test_the_path_over_stored_maps_ends_in_the_solution_of_pivoting(make, monkeypatch):
    example = make()
    planar, general = with_and_without(
        monkeypatch, example.problem, example.step, example.max_steps, solutions="one", seed=3
    )
    np.testing.assert_array_equal(planar.steps, general.steps)
    np.testing.assert_allclose(planar.velocities, general.velocities, atol=1e-9)
    np.testing.assert_array_equal(planar.terminated, general.terminated)


@pytest.mark.parametrize("kind", ["plain", "some frictionless", "separating", "uneven masses"])
def test_samples_of_random_planar_problems_are_those_of_pivoting(kind, monkeypatch):
    compared = 0
    for seed in range(6):
        problem = random_problem(np.random.default_rng(seed), kind, m=1 + seed % 4, d=1)
        step = impulse_scale(problem)
        if step == 0.0:
            continue
        planar, general = with_and_without(monkeypatch, problem, step, 60, solutions="one", seed=seed)
        size = np.abs(general.velocities).max() + 1.0
        np.testing.assert_allclose(planar.velocities, general.velocities, atol=1e-7 * size)
        compared += 1
    assert compared >= 3 or kind == "separating"


@pytest.mark.parametrize("kind", KINDS[:8])
def test_degenerate_planar_samples_are_solved_and_dissipate(kind):
    for seed in range(4):
        problem = random_problem(np.random.default_rng(seed), kind, m=1 + seed, d=1)
        found = post_impact_set(problem, impulse_scale(problem) or 1.0, 30, 60, seed=seed, solutions="all")
        assert found.residual < 1e-9
        energy = np.einsum("si,ij,sj->s", found.velocities, problem.mass, found.velocities)
        assert (energy <= problem.velocity @ problem.mass @ problem.velocity * (1 + 1e-9)).all()


def test_what_earlier_samples_met_changes_no_bit():
    """Maps are stored and modes remembered from sample to sample; a set that begins in the middle has none of them."""
    example = compass_gait_impact()
    whole = post_impact_set(example.problem, example.step, 200, example.max_steps, seed=2)
    shared = post_impact_set(example.problem, example.step, 200, example.max_steps, seed=2, threads=3)
    np.testing.assert_array_equal(whole.velocities, shared.velocities)
    np.testing.assert_array_equal(whole.impulses, shared.impulses)
    assert sampler.planar_batch.signatures


def test_signs_of_modes_are_those_of_determinants_and_sum_to_one_at_the_solutions():
    """The degree of F is 1, on which the shortcuts of the search stand: so the signs at all solutions sum to 1."""
    rng = np.random.default_rng(5)
    several = 0
    for make in (compass_gait_impact, ramone_impact):
        problem = make().problem
        searches = planar_campaign.Searches(problem)
        space, pieces = searches.space, Pieces(*searches.planar.pieces)
        prepare(space.H, space.c, searches.states, pieces)
        for _ in range(100):
            w = searches.space.w * rng.uniform(0.3, 1.5, space.w.size) + 0.2 * rng.normal(size=space.w.size)
            cap = rng.uniform(0.05, 1.5, 2)
            wide = np.concatenate([w, cap])
            held = [
                code
                for code in range(49)
                if pieces.signs[code] != SINGULAR_PIECE
                and (pieces.tests[code, : pieces.counts[code, 0]] @ wide > 0.0).all()
            ]
            assert sum(pieces.signs[code] for code in held) == 1
            several += len(held) > 1
    assert several > 10
