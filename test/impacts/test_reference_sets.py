"""Draw by draw against the published implementation's outcomes (reference/routh)."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

SHARED = Path(os.environ.get("HYBRID_CONTACT_SHARED", Path(__file__).parents[3] / "shared"))
ROUTH = SHARED / "reference" / "routh"


@pytest.fixture(params=["rocking_block", "box_and_wall"])
def reference(request):
    folder = ROUTH / request.param
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} is absent (set HYBRID_CONTACT_SHARED)")
    data = json.loads((folder / "problem.json").read_text())
    problem = ContactProblem(data["M"], data["v_minus"], data["Jn"], np.array(data["Jt"])[:, None], data["mu"])
    return folder, data, problem


@pytest.mark.parametrize("file", ["samples_octave_2p14.npz", "samples_numpy_2p16.npz"])
def test_first_4096_draws_end_as_the_reference(reference, file):
    folder, data, problem = reference
    draws = data["h"] * np.load(folder / "draws_first4096.npz")["p"]
    expected = np.load(folder / file)
    result = post_impact_set(problem, data["h"], 4096, data["N"], maximum_impulses=draws)
    np.testing.assert_allclose(result.velocities, expected["v_plus"][:4096], atol=1e-9)
    np.testing.assert_array_equal(result.steps, expected["n_lcp"][:4096])
    np.testing.assert_array_equal(result.terminated, expected["terminated"][:4096])
    assert result.residual < 1e-9


def test_own_draws_cover_the_reference_set_and_no_more(reference):
    """99 % of each set lies within 5 % of the approach speed of the other, in J v."""
    folder, data, problem = reference
    J, speed = problem.jacobian(), np.linalg.norm(problem.velocity)
    own = post_impact_set(problem, data["h"], 4096, data["N"], seed=3)
    other = np.load(folder / "samples_numpy_2p16.npz")
    a, b = own.velocities[own.terminated] @ J.T, other["v_plus"][:4096][other["terminated"][:4096]] @ J.T
    distance = np.linalg.norm(a[:, None] - b[None, ::2], axis=2)
    assert np.quantile(distance.min(axis=0), 0.99) < 0.05 * speed
    assert np.quantile(distance.min(axis=1), 0.99) < 0.05 * speed


def test_simultaneous_outcome_is_the_reference(reference):
    folder, _, problem = reference
    expected = json.loads((folder / "baselines.json").read_text())["simultaneous_anitescu_potra"]
    velocity = simultaneous_impact(problem).velocity
    assert min(np.abs(velocity - np.array(one["v_plus"])).max() for one in expected) < 1e-9
