"""The soft trotter's orbit (Pace, Fig. 3): its return map's selections, stability and controllability (§6.2, §6.3)."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers.rational import positive_definite
from hybrid_contact_ros import (
    PoincareMap,
    Section,
    local_controllability,
    orbit_stability,
    outcome_derivative,
    periodic_orbit,
    simulate,
)
from hybrid_contact_ros.orbits.piecewise import Answer
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.trotters import (
    HIP,
    LEG,
    SoftTrotterParameters,
    rigid_trotter,
    soft_trotter,
    soft_trotter_apex,
)

EXACT = {"rtol": 1e-11, "atol": 1e-13}
APEX = Section(lambda q, v: -v[0], lambda q, v: [0.0] * 4 + [-1.0, 0.0, 0.0, 0.0])


def returning(hip=HIP):
    return PoincareMap(soft_trotter(replace(SoftTrotterParameters(), hip=hip)), APEX, 0.85, shortest=0.5)


@pytest.fixture(scope="module")
def trot():
    return returning()


@pytest.fixture(scope="module")
def derivative(trot):
    return trot.derivative(*soft_trotter_apex())


def test_the_return_map_has_one_selection_for_each_order_of_the_feet(derivative):
    assert derivative.validity is Validity.VALID
    assert {piece.word for piece in derivative.pieces} == {((0, 1),), ((1, 0),)}
    left, right = derivative.pieces
    np.testing.assert_allclose(left.cone, -right.cone, atol=1e-9)  # θ > 0: left first
    difference = left.matrix - right.matrix
    values = np.linalg.svd(difference, compute_uv=False)
    assert values[0] > 0.5 and values[1] < 1e-6 * values[0]
    for z in np.random.default_rng(0).normal(size=(5, 7)):  # continuous: it vanishes in the boundary of the cones
        inside = z - left.cone[0] * (left.cone[0] @ z)
        assert np.abs(difference @ inside).max() < 1e-6 * np.linalg.norm(inside)


def test_its_multipliers_are_those_that_docs_trotters_has_from_differences(derivative):
    for piece in derivative.pieces:
        moduli = np.sort(np.abs(np.linalg.eigvals(piece.matrix)))[::-1]
        np.testing.assert_allclose(moduli[:3], [0.9922, 0.9922, 0.1424], atol=2e-4)
        assert moduli[3] < 1e-3


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_sided_differences_of_the_simulated_return_map_approach_it_with_first_order(trot, derivative, side):
    q, v = soft_trotter_apex()
    basis = trot.directions(q, v)
    z = np.random.default_rng(4).normal(size=7)
    z *= side * np.sign(derivative.pieces[0].cone[0] @ z) / np.linalg.norm(z)
    piece = derivative.at(z)
    assert piece.word == (((0, 1),) if side > 0.0 else ((1, 0),))
    (other,) = [one for one in derivative.pieces if one is not piece]
    start = trot(q, v)
    errors, others = [], []
    for step in (1e-3, 1e-4, 1e-5):
        ended = trot(*trot.moved(q, v, step * (basis @ z)))
        change = basis.T @ trot.displacement(start.q, start.v, ended.q, ended.v) / step
        errors.append(np.abs(change - derivative.apply(z)).max())
        others.append(np.abs(change - other.matrix @ z).max())
    orders = np.log10(np.array(errors[:-1]) / errors[1:])
    assert (orders > 0.9).all() and errors[-1] < 3e-3, errors
    assert others[-1] > 0.05  # it is not the other selection's


def test_pace_6_2_the_orbit_is_stable_by_a_common_norm_that_rational_numbers_confirm(derivative):
    found = orbit_stability(derivative)
    assert found.answer is Answer.YES
    proof = found.certificate
    assert proof.holds() and proof.length == 1 and len(proof.words) == 2
    assert 0.9922 < proof.factor < 0.997
    assert proof.margin > 1e-5  # more than the derivative's error
    rows = [np.array([[Fraction(float(x)) for x in row] for row in part]) for part in (proof.norm, *proof.words)]
    for word in rows[1:]:
        assert positive_definite(rows[0] - word.T.dot(rows[0]).dot(word))
    assert positive_definite(rows[0])


def test_a_deviation_dies_out_as_the_norm_says(trot, derivative):
    proof = orbit_stability(derivative).certificate
    q, v = soft_trotter_apex()
    basis = trot.directions(q, v)
    at = trot.moved(q, v, 1e-4 * (basis @ np.random.default_rng(1).normal(size=7)))
    sizes = []
    for _ in range(4):
        z = basis.T @ trot.displacement(q, v, *at)
        sizes.append(np.sqrt(z @ proof.norm @ z))
        found = trot(*at)
        at = found.q, found.v
    assert (np.array(sizes[1:]) < proof.factor * (1.0 + 1e-3) * np.array(sizes[:-1])).all()


@pytest.mark.parametrize("hip, eigenvalue", [(0.32, 2.0262), (0.15, -1.3513)])
def test_pace_6_2_with_hips_elsewhere_the_same_level_orbit_is_unstable(hip, eigenvalue):
    """Level trots do not depend on the hips. An eigenvector beyond 1 lies in its own cone, or two returns have one."""
    elsewhere = returning(hip)
    q, v = soft_trotter_apex()
    found = orbit_stability(elsewhere.derivative(q, v))
    assert found.answer is Answer.NO and found.certificate.holds()
    assert found.certificate.eigenvalue.real == pytest.approx(eigenvalue, abs=2e-3)
    at, tilt, returns = soft_trotter_apex(1e-8), 1e-8, 12
    for _ in range(returns):
        found_next = elsewhere(*at)
        at = found_next.q, found_next.v
    deviation = np.abs(elsewhere.displacement(q, v, *at)).max()
    assert deviation > 0.05 * found.certificate.growth**returns * tilt
    assert found.certificate.functional == (eigenvalue < 0.0)  # Pace's test answers for the positive one


def test_the_orbit_is_found_within_the_mirror_and_beside_it_is_refused(trot):
    q, v = soft_trotter_apex()
    level = np.zeros((8, 3))
    level[0, 0] = level[2, 1] = level[3, 1] = level[6, 2] = level[7, 2] = 1.0
    orbit = periodic_orbit(trot, q + np.array([0.004, 0.0, -0.003, -0.003]), v, within=level)
    np.testing.assert_allclose(orbit.q, q, atol=2e-6)
    assert orbit.period == pytest.approx(0.8, abs=1e-5)
    assert orbit.stability().answer is Answer.YES


def test_a_rigid_trotter_has_no_bouligand_derivative():
    run = simulate(rigid_trotter(), [0.0, LEG + 0.2, 0.0], np.zeros(3), 0.25)
    found = outcome_derivative(run).map
    assert found.validity is Validity.SIMULTANEOUS
    with pytest.raises(ValueError, match="no Bouligand derivative"):
        local_controllability(outcome_derivative(run, lambda t, q, v, mode: np.eye(3)).inputs())


def pushes(count):
    """∂(Sᵀτ)/∂u of forces along both legs, that go with sin(kπt): ``count`` of them for each leg."""

    def controls(time, q, v, mode):
        arm = HIP * np.cos(q[1])
        legs = np.array([[1.0, -arm, -1.0, 0.0], [1.0, arm, 0.0, -1.0]])
        return np.column_stack([np.sin(k * np.pi * time) * leg for k in range(1, count + 1) for leg in legs])

    return controls


def steered(controls, u, t):
    """The end of the trot with constant inputs u."""
    system = soft_trotter()
    own = system.force
    system.force = lambda time, q, v, mode: own(time, q, v, mode) + controls(time, q, v, mode) @ u
    run = simulate(system, *soft_trotter_apex(), t, **EXACT)
    return np.concatenate((run.q[-1], run.v[-1]))


@pytest.mark.parametrize("t, count, outcomes", [(0.4, 2, 4), (0.75, 4, 8)])
def test_pace_6_3_leg_forces_steer_the_trot_in_stance_and_in_flight(t, count, outcomes):
    controls = pushes(count)
    run = simulate(soft_trotter(), *soft_trotter_apex(), t, **EXACT)
    steering = outcome_derivative(run, controls)
    inputs = steering.inputs()
    assert len(inputs.pieces) == 2 and inputs.pieces[0].matrix.shape == (outcomes, 2 * count)
    # against differences of the simulation, to both sides
    start = np.concatenate((run.q[-1], run.v[-1]))
    u = np.random.default_rng(2).normal(size=2 * count)
    u /= np.linalg.norm(u)
    for side in (1.0, -1.0):
        errors = []
        for step in (1e-3, 1e-4):
            change = steering.tangent.T @ (steered(controls, side * step * u, t) - start) / step
            errors.append(np.abs(change - inputs.apply(side * u)).max())
        assert errors[1] < 0.2 * errors[0] or errors[1] < 1e-6, errors
    found = local_controllability(inputs)
    assert found.answer is Answer.YES, found.why
    assert found.certificate.homeomorphism and found.certificate.coherent and found.certificate.holds()


def test_pace_6_3_equal_forces_in_both_legs_leave_it_undecided():
    def controls(time, q, v, mode):
        both = pushes(4)(time, q, v, mode)
        return both[:, ::2] + both[:, 1::2]

    run = simulate(soft_trotter(), *soft_trotter_apex(), 0.4, **EXACT)
    inputs = outcome_derivative(run, controls).inputs()
    found = local_controllability(inputs)
    assert found.answer is Answer.UNDECIDED and found.rank == 2  # height and speed, but no turn
