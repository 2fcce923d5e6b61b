"""What holds for every impact of an execution."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.impact import impact
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import LAWS, Options

NOTHING = HybridMode(frozenset(), frozenset())


@pytest.mark.parametrize("law", LAWS)
@given(seed=st.integers(0, 2**32 - 1), friction=st.sampled_from([0.3, 1.0]))
@example(seed=138811739, friction=1.0)  # friction jams: plastic impulses of 900 N s where 7 stop the contacts
def test_friction_and_restitution_never_add_energy(law, seed, friction):
    rng = np.random.default_rng(seed)
    root, normals, velocity = rng.normal(size=(4, 4)), rng.normal(size=(3, 4)), rng.normal(size=4)
    normals *= -np.sign(normals @ velocity)[:, None]
    tangents = np.random.default_rng(seed).normal(size=(3, 1, 4))
    mass = root @ root.T + 0.3 * np.eye(4)
    case = ContactProblem(mass, velocity, normals, tangents, np.full(3, friction), np.full(3, 0.5))
    after = impact(case, NOTHING, frozenset(range(3)), Options(law=law), True).velocity
    assert after @ mass @ after <= velocity @ mass @ velocity * (1.0 + 1e-9)
