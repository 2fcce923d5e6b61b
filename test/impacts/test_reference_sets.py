"""Every system of the reference data, draw by draw and as sets, against the published implementation's outcomes.

Nothing here knows a system by its name: a folder with a problem*.json is compared with whatever lies beside it.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.increments import increment_outcomes, reachable_outcomes
from hybrid_contact_ros.impacts.sequential import sequential_path
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

SHARED = Path(os.environ.get("HYBRID_CONTACT_SHARED", Path(__file__).parents[3] / "shared"))
PROBLEMS = sorted((SHARED / "reference").rglob("problem*.json"))
ABSENT = [pytest.param(None, marks=pytest.mark.skip(f"no reference data in {SHARED}: set HYBRID_CONTACT_SHARED"))]


@pytest.fixture(params=PROBLEMS or ABSENT, ids=lambda file: f"{file.parent.name}-{file.stem}" if file else "none")
def reference(request):
    return Reference(request.param)


class Reference:
    """A problem file, and the files beside it whose names end as its own does."""

    def __init__(self, file):
        self.folder, self.suffix = file.parent, file.stem.removeprefix("problem")
        self.data = json.loads(file.read_text())
        tangents = np.array(self.data["Jt"])
        self.problem = ContactProblem(
            self.data["M"],
            self.data["v_minus"],
            self.data["Jn"],
            tangents[:, None] if tangents.ndim == 2 else tangents,
            self.data["mu"],
        )
        self.step, self.steps = self.data["h"], self.data["N"]

    def files(self, pattern):
        """Of this problem: the suffix of another problem of the folder is no part of its names."""
        others = {p.stem.removeprefix("problem") for p in self.folder.glob("problem*.json")} - {self.suffix}
        found = [p for p in sorted(self.folder.glob(pattern)) if self.suffix in p.stem]
        return [p for p in found if not any(other and other in p.stem for other in others)]

    def baselines(self):
        files = self.files("baselines*.json")
        if not files:
            pytest.skip(f"no baselines in {self.folder}")
        return json.loads(files[0].read_text())

    def draws(self):
        files = self.files("draws_first*.npz") or sorted(self.folder.glob("draws_first*.npz"))
        if not files:
            pytest.skip(f"no draws in {self.folder}")
        return self.step * np.load(files[0])["p"]


def test_draw_by_draw_outcomes_are_the_references_or_among_what_the_draws_can_reach(reference):
    draws = reference.draws()
    problem, count = reference.problem, len(draws)
    compared = 0
    for file in reference.files("samples*.npz"):
        expected = np.load(file)
        own = post_impact_set(problem, reference.step, count, reference.steps, maximum_impulses=draws, solutions="one")
        assert own.residual < 1e-9
        n = min(count, len(expected["v_plus"]))
        same = np.abs(own.velocities[:n] - expected["v_plus"][:n]).max(axis=1) < 1e-9
        np.testing.assert_array_equal(own.steps[:n][same], expected["n_lcp"][:n][same])
        np.testing.assert_array_equal(own.terminated[:n][same], expected["terminated"][:n][same])
        searched = post_impact_set(problem, reference.step, 64, reference.steps, maximum_impulses=draws[:64],
                                   solutions="all")  # fmt: skip
        if searched.unique:
            assert same.all()
        for i in np.flatnonzero(~same)[:25]:
            reachable = reachable_outcomes(problem, draws[i])
            assert len(reachable) > 1 or reachable.continuum or not reachable.complete
            if reachable.complete and not reachable.continuum:
                apart = min(np.abs(one.velocity - expected["v_plus"][i]).max() for one in reachable)
                assert apart < 1e-6
        compared += 1
    assert compared


def test_the_first_step_has_the_references_next_velocities(reference):
    check = reference.data.get("first_step_check")
    if check is None:
        pytest.skip("the reference has no first step")
    outcomes = increment_outcomes(reference.problem, check["lambda_max"])
    for expected in [check["v_next_lemke"], *check.get("v_next_all_distinct", [])]:
        assert min(np.abs(one.velocity - expected).max() for one in outcomes) < 1e-9
    if "v_next_all_distinct" in check and not outcomes.continuum:
        assert len(outcomes) == len(check["v_next_all_distinct"])


def test_simultaneous_outcomes_are_the_references(reference):
    expected = reference.baselines()["simultaneous_anitescu_potra"]
    outcomes = simultaneous_impact(reference.problem, all_solutions=True)
    chosen = simultaneous_impact(reference.problem)
    for one in expected:
        assert min(np.abs(other.velocity - one["v_plus"]).max() for other in outcomes) < 1e-8
    assert min(np.abs(chosen.velocity - other.velocity).max() for other in outcomes) < 1e-8
    assert len(outcomes) == len(expected)


def test_sequential_outcomes_are_the_references(reference):
    for expected in reference.baselines()["sequential_cyclic"]:
        m, first, path = reference.problem.contacts, expected["start_contact"] - 1, np.array(expected["v_trajectory"])
        order = [(first + i) % m for i in range(m)]
        outcome, own = sequential_path(reference.problem, order, max_impacts=max(expected["impacts"], 1))
        n = min(len(path), len(own))  # the reference's tolerance is larger: it may stop a little earlier
        np.testing.assert_allclose(own[:n], path[:n], atol=1e-8)
        assert len(own) >= len(path)
        if len(own) == len(path):
            assert (outcome.status == Status.SOLVED) == expected["terminated"]


def test_own_draws_cover_the_reference_set_and_no_more(reference):
    """99 % of each set lies within 5 % of the approach speed of the other, in J v."""
    problem, J = reference.problem, reference.problem.jacobian()
    speed = np.linalg.norm(J @ problem.velocity)
    samples = 8192 if problem.contacts < 4 else 2048
    own = post_impact_set(problem, reference.step, samples, reference.steps, seed=3)
    a = own.velocities[own.terminated] @ J.T
    for file in reference.files("samples_numpy*.npz") + reference.files("cover*.npz"):
        other = np.load(file)
        b = other["v_plus"] @ J.T
        if "terminated" in other:
            b = b[other["terminated"]]
        assert np.quantile(cKDTree(a).query(b)[0], 0.99) < 0.05 * speed
        if own.unique is not False:  # otherwise the reference may have followed one solution only
            assert np.quantile(cKDTree(b).query(a)[0], 0.99) < 0.05 * speed


def test_hulls_of_the_normal_velocities_are_the_references(reference):
    """Area within 10 %, and nothing of ours beyond 3 % of the size outside."""
    files = reference.files("summary*.json")
    if not files:
        pytest.skip(f"no summary in {reference.folder}")
    problem = reference.problem
    own = post_impact_set(problem, reference.step, 2**15, reference.steps, seed=4)
    vn = (own.velocities[own.terminated] @ problem.normal_jacobian.T)[:, :2]
    for key, part in json.loads(files[0].read_text()).items():
        hull = part.get("hull_vnA_vnB") if isinstance(part, dict) else None
        if hull is None or hull.get("degenerate") or (own.unique is False and "lemke" in key):
            continue
        vertices = np.array(hull["vertices_pruned_1e5"])
        theirs = ConvexHull(vertices)
        outside = (vn @ theirs.equations[:, :2].T + theirs.equations[:, 2]).max()
        assert outside < 0.03 * np.ptp(vertices, axis=0).max()
        assert ConvexHull(vn).volume == pytest.approx(hull["area"], rel=0.1)
