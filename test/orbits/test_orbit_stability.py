"""Pace §6.2 on piecewise linear maps: stable, unstable and undecided, each with a proof that is checked here again."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros import orbit_stability
from hybrid_contact_ros.orbits.expansion import Expansion
from hybrid_contact_ros.orbits.piecewise import Answer, piecewise_linear
from hybrid_contact_ros.orbits.stability import Contraction

HALVES = [[[1.0, 0.0]], [[-1.0, 0.0]]]  # x ≥ 0 and x ≤ 0


def border(right, left):
    """The normal form of a border collision: (x, y) ↦ (τ x + y, −δ x), with (τ, δ) of the side; continuous."""
    matrices = [[[trace, 1.0], [-determinant, 0.0]] for trace, determinant in (right, left)]
    return piecewise_linear(matrices, HALVES)


def iterated(mapped, x, steps):
    for _ in range(steps):
        x = mapped.apply(x)
    return x


def test_selections_that_contract_in_one_norm_are_stable():
    found = orbit_stability(border((0.5, 0.3), (-0.4, 0.2)))
    assert found.answer is Answer.YES
    assert isinstance(found.certificate, Contraction) and found.certificate.holds()
    assert found.certificate.length == 1 and len(found.certificate.words) == 2
    assert np.abs(found.multipliers[0]).max() <= found.certificate.rate == found.bound < 1.0


def test_a_stable_map_of_a_contracting_and_an_expanding_selection_is_found_by_words_of_two():
    """x ↦ −x/2 on the right and −3x/2 on the left: no norm contracts both, and twice it is 3/4 x."""
    found = orbit_stability(piecewise_linear([[[-0.5]], [[-1.5]]], [[[1.0]], [[-1.0]]]))
    assert found.answer is Answer.YES
    assert found.certificate.length == 2
    assert sorted(word.item() for word in found.certificate.words) == [0.75, 0.75]
    assert found.certificate.rate == pytest.approx(math.sqrt(0.75))


def test_pace_figure_4_left_an_eigenvector_in_its_own_cone_is_unstable():
    found = orbit_stability(border((1.6, 0.5), (0.2, 0.1)))
    assert found.answer is Answer.NO
    proof = found.certificate
    assert isinstance(proof, Expansion) and proof.holds() and proof.length == 1
    assert proof.vector[0].real > 0.0  # to the right, where its selection is
    x = 1e-9 * proof.vector.real
    mapped = border((1.6, 0.5), (0.2, 0.1))
    grown = iterated(mapped, x, 40)
    np.testing.assert_allclose(grown, proof.growth**40 * x, rtol=1e-9)


def test_stable_selections_can_make_an_unstable_map():
    """Branicky's point (Pace, §6.2): two stable selections, and a direction that grows over a word of both."""
    right, left = (-0.3, 0.95), (-1.6, 0.9)
    mapped = border(right, left)
    for piece in mapped.pieces:
        assert np.abs(np.linalg.eigvals(piece.matrix)).max() < 1.0
    found = orbit_stability(mapped, length=6)
    assert found.answer is Answer.NO, found.why
    assert found.certificate.length > 1 and found.certificate.holds()
    x = found.certificate.vector.real
    grown = iterated(mapped, x, found.certificate.length)
    np.testing.assert_allclose(grown, found.certificate.eigenvalue.real * x, atol=1e-9)


def test_an_unstable_selection_whose_eigenvector_lies_in_the_other_cone_proves_nothing():
    """Pace, Fig. 4 right: the image of the expanding eigenvector is in the other selection's cone; words decide."""
    mapped = border((-0.5, 0.3), (-1.6, 0.5))
    values, vectors = np.linalg.eig(mapped.pieces[1].matrix)
    expanding = vectors[:, np.abs(values).argmax()]
    assert values.min() < -1.1
    for side in (expanding, -expanding):
        assert mapped.at(side) is not mapped.at(mapped.pieces[1].matrix @ side)
    found = orbit_stability(mapped, length=1)
    assert found.answer is Answer.UNDECIDED and found.certificate is None
    longer = orbit_stability(mapped, length=3)
    assert longer.answer is Answer.YES and longer.certificate.length == 3 and longer.certificate.holds()
    assert np.linalg.norm(iterated(mapped, expanding, 60)) < 1e-3


def test_undecided_where_the_map_turns_by_no_rational_angle():
    """Complex eigenvalues inside and outside the circle: no norm, and no direction comes back to itself."""
    mapped = border((0.3, 0.93), (0.35, 1.075))
    found = orbit_stability(mapped, length=5)
    assert found.answer is Answer.UNDECIDED
    assert found.certificate is None and found.bound > 1.0
    assert np.abs(found.multipliers[0]).max() < 1.0 < np.abs(found.multipliers[1]).max()
    # it is no gap of ours alone: in 60 returns directions neither die out nor grow by much
    sizes = [np.linalg.norm(iterated(mapped, np.array([np.cos(a), np.sin(a)]), 60)) for a in np.linspace(0, 6.2, 20)]
    assert min(sizes) > 0.02 and max(sizes) < 50.0


@pytest.mark.parametrize("modulus, answer", [(0.99, "YES"), (1.0, "UNDECIDED"), (1.01, "NO")])
def test_one_selection_is_decided_by_its_multipliers_as_ever(modulus, answer):
    turn = modulus * np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    skewed = np.array([[1.0, 3.0], [0.0, 1.0]])
    found = orbit_stability(skewed @ turn @ np.linalg.inv(skewed))
    assert found.answer.name == answer
    assert found.certificate is None or found.certificate.holds()


def test_a_function_that_all_pieces_multiply_proves_instability_where_eigenvectors_have_no_cone():
    """A complex pair beyond 1 that both pieces share as a quotient; the pieces differ in the rest by a corner."""
    turn = 1.02 * np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    pieces = []
    for sign in (1.0, -1.0):
        matrix = np.zeros((3, 3))
        matrix[0, 0], matrix[0, 1], matrix[1:, 1:] = 0.4, sign * 0.8, turn
        pieces.append(matrix)
    mapped = piecewise_linear(pieces, [[[0.0, 1.0, 0.0]], [[0.0, -1.0, 0.0]]])
    found = orbit_stability(mapped)
    assert found.answer is Answer.NO
    assert found.certificate.functional and found.certificate.holds()
    x = np.array([0.0, 0.3, -0.1])
    before = abs(np.vdot(found.certificate.vector, x))
    after = abs(np.vdot(found.certificate.vector, iterated(mapped, x, 50)))
    assert after == pytest.approx(1.02**50 * before)


def test_a_margin_of_errors_is_kept():
    mapped = border((0.5, 0.3), (-0.4, 0.2))
    margin = orbit_stability(mapped).certificate.margin
    assert margin > 0.01
    assert orbit_stability(mapped, error=0.99 * margin).answer is Answer.YES
    rng = np.random.default_rng(0)
    for _ in range(20):
        pieces = []
        for piece in mapped.pieces:
            error = rng.normal(size=(2, 2))
            pieces.append(piece.matrix + 0.99 * margin * error / np.linalg.norm(error, 2))
        norm = orbit_stability(mapped).certificate.norm
        assert all(Contraction(norm, 1, (a,), 0.0, 0.0).holds() for a in pieces)
    assert orbit_stability([[1.0001]], error=1e-3).answer is Answer.UNDECIDED
    assert orbit_stability([[1.0001]], error=1e-5).answer is Answer.NO


def test_certificates_that_prove_nothing_are_told():
    good = orbit_stability(border((0.5, 0.3), (-0.4, 0.2))).certificate
    assert not replace(good, norm=-good.norm).holds()
    assert not replace(good, words=(*good.words, 1.1 * np.eye(2))).holds()
    grows = orbit_stability(border((1.6, 0.5), (0.2, 0.1))).certificate
    assert not replace(grows, vector=-grows.vector).holds()  # in the other cone
    assert not replace(grows, vector=np.array([1.0, 0.0], complex)).holds()
    assert not replace(grows, eigenvalue=0.9).holds()


@settings(max_examples=40, deadline=None)
@given(
    right=st.tuples(st.floats(-1.9, 1.9), st.floats(-0.9, 1.3)),
    left=st.tuples(st.floats(-1.9, 1.9), st.floats(-0.9, 1.3)),
)
def test_answers_agree_with_what_iterates_do(right, left):
    mapped = border(right, left)
    found = orbit_stability(mapped, length=3)
    if found.answer is Answer.UNDECIDED:
        assert found.certificate is None
        return
    assert found.certificate.holds()
    if found.answer is Answer.YES:
        norm, rate = found.certificate.norm, found.certificate.rate
        length = found.certificate.length
        for angle in np.linspace(0.0, 6.0, 12):
            x = np.array([np.cos(angle), np.sin(angle)])
            y = iterated(mapped, x, 4 * length)
            assert math.sqrt(y @ norm @ y) <= rate ** (4 * length) * math.sqrt(x @ norm @ x) * (1.0 + 1e-9)
    elif not found.certificate.functional:
        x, growth = found.certificate.vector.real, found.certificate.growth
        turns = found.certificate.length * 2
        assert np.linalg.norm(iterated(mapped, x, turns)) == pytest.approx(growth**turns, rel=1e-4)


def test_what_is_no_return_map_is_refused():
    with pytest.raises(ValueError, match="square"):
        orbit_stability([[1.0, 0.0]])
    with pytest.raises(ValueError, match="no cone holds"):
        piecewise_linear([[[1.0]]], [[[1.0]]])
    with pytest.raises(ValueError, match="disagree"):
        piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]], HALVES)
    with pytest.raises(ValueError, match="need a cone"):
        piecewise_linear([[[1.0]], [[2.0]]])
