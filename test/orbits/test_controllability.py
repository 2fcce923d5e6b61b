"""Pace §6.3: whether constant inputs move an outcome in every direction, by preimages of piecewise linear maps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros import local_controllability
from hybrid_contact_ros.orbits.piecewise import Answer, piecewise_linear

HALVES = [[[1.0, 0.0]], [[-1.0, 0.0]]]


def fan(edges, images):
    """The continuous map of the plane that is linear between directions ``edges`` (angles) and sends them to images."""
    matrices, cones = [], []
    count = len(edges)
    for k in range(count):
        a, b = (np.array([np.cos(t), np.sin(t)]) for t in (edges[k], edges[(k + 1) % count]))
        basis = np.column_stack((a, b))
        matrices.append(np.column_stack((images[k], images[(k + 1) % count])) @ np.linalg.inv(basis))
        cones.append(np.linalg.inv(basis))
    return piecewise_linear(matrices, cones)


def turned(count, turns):
    """``count`` directions around the circle, sent ``turns`` times around it."""
    edges = 2.0 * np.pi * np.arange(count) / count
    return fan(edges, [np.array([np.cos(turns * t), np.sin(turns * t)]) for t in edges])


ANGLES = np.linspace(0.0, 2.0 * np.pi, 721)[:-1] + 1e-4


def circle(mapped):
    """The image of the unit circle, (720, 2)."""
    return np.array([mapped.apply([np.cos(a), np.sin(a)]) for a in ANGLES])


def preimages(image, y):
    """Of one outcome: how often the image of the circle passes its direction."""
    side, ahead = image @ np.array([-y[1], y[0]]), image @ y > 0.0
    return int(((side * np.roll(side, -1) < 0.0) & ahead).sum())


def test_one_regular_piece_is_controllable_and_a_singular_one_undecided():
    good = local_controllability(piecewise_linear([[[2.0, 1.0], [0.0, -1.0]]]))
    assert good.answer is Answer.YES and good.certificate.homeomorphism and good.certificate.holds()
    bad = local_controllability(piecewise_linear([[[2.0, 1.0], [4.0, 2.0]]]))
    assert bad.answer is Answer.UNDECIDED and bad.certificate is None and bad.rank == 1


def test_two_coherently_oriented_halves_are_a_homeomorphism():
    found = local_controllability(piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [-1.0, 1.0]]], HALVES))
    assert found.answer is Answer.YES
    assert found.certificate.coherent and found.certificate.homeomorphism and found.certificate.holds()


def test_a_fold_misses_outcomes():
    folded = piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[-3.0, 0.0], [-1.0, 1.0]]], HALVES)
    found = local_controllability(folded)
    assert found.answer is Answer.NO
    assert not found.certificate.coherent and found.certificate.preimages == () and found.certificate.holds()
    y = found.certificate.outcome
    assert preimages(circle(folded), y) == 0


def test_coherent_orientation_alone_is_no_homeomorphism():
    """Twice around the circle: every determinant is positive, and every outcome has two preimages."""
    found = local_controllability(turned(8, 2))
    assert found.certificate.coherent and not found.certificate.homeomorphism
    assert found.certificate.degree == 2 and len(found.certificate.preimages) == 2
    assert found.answer is Answer.YES  # it is open all the same, and reaches every outcome
    assert "degree 2" in found.why


def test_a_degree_that_is_not_zero_decides_without_coherent_orientation():
    """Around the circle once, with a turn back on the way."""
    edges = np.radians([0.0, 60.0, 120.0, 180.0, 270.0])
    images = np.radians([0.0, 130.0, 70.0, 180.0, 270.0])
    found = local_controllability(fan(edges, [np.array([np.cos(t), np.sin(t)]) for t in images]))
    assert found.answer is Answer.YES and not found.certificate.coherent and found.certificate.degree == 1


def test_undecided_where_every_outcome_has_preimages_of_degree_zero():
    """Forth and back around the whole circle: it reaches everything, but no degree says that it goes on to do so."""
    edges = np.radians([0.0, 60.0, 120.0, 180.0, 240.0, 300.0])
    images = np.radians([0.0, 130.0, 260.0, 390.0, 260.0, 130.0])
    found = local_controllability(fan(edges, [np.array([np.cos(t), np.sin(t)]) for t in images]))
    assert found.answer is Answer.UNDECIDED and found.certificate is None


def test_too_few_inputs_are_undecided_and_more_than_needed_help():
    wide = piecewise_linear([[[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]]])
    assert local_controllability(wide).answer is Answer.YES
    tall = piecewise_linear([[[1.0], [2.0]]])
    found = local_controllability(tall)
    assert found.answer is Answer.UNDECIDED and "1 inputs" in found.why
    assert local_controllability(tall, targets=[[1.0, 0.0]]).answer is Answer.YES


def test_a_third_input_decides_what_a_fold_of_two_does_not():
    matrices = [[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [[-1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]]
    cones = [[[1.0, 0.0, 0.0]], [[-1.0, 0.0, 0.0]]]
    assert local_controllability(piecewise_linear(matrices, cones)).answer is Answer.UNDECIDED
    for matrix in matrices:
        matrix[0][2] = 2.0
    found = local_controllability(piecewise_linear(matrices, cones))
    assert found.answer is Answer.YES and found.certificate.subspace.shape == (3, 2)


def test_certificates_that_prove_nothing_are_told():
    proof = local_controllability(piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [-1.0, 1.0]]], HALVES))
    good = proof.certificate
    assert good.holds()
    assert not replace(good, preimages=()).holds()
    assert not replace(good, degree=2).holds()
    assert not replace(good, signs=(1, -1)).holds()


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 7), st.integers(0, 100_000))
def test_preimages_are_those_of_the_circle_followed_round(count, seed):
    rng = np.random.default_rng(seed)
    edges = 2.0 * np.pi * (np.arange(count) + 0.3 * rng.uniform(-1, 1, count)) / count
    images = [r * np.array([np.cos(t), np.sin(t)]) for r, t in rng.uniform([0.5, 0.0], [2.0, 6.28], (count, 2))]
    mapped = fan(edges, images)
    found = local_controllability(mapped)
    if found.certificate is None:
        assert found.answer is Answer.UNDECIDED
        return
    assert found.certificate.holds()
    image = circle(mapped)
    assert preimages(image, found.certificate.outcome) == len(found.certificate.preimages)
    others = [preimages(image, rng.normal(size=2)) for _ in range(20)]
    if found.certificate.homeomorphism:
        assert set(others) == {1}
    if found.answer is Answer.YES:
        assert min(others) >= 1
    else:
        assert found.answer is Answer.NO and len(found.certificate.preimages) == 0


def test_what_is_no_map_of_inputs_is_refused():
    mapped = piecewise_linear([np.eye(2)])
    with pytest.raises(ValueError, match="targets"):
        local_controllability(mapped, targets=[[1.0, 0.0, 0.0]])
