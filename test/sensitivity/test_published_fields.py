"""The six cases of the public repository gcouncil-cmu/bderv (Council, Revzen and Burden: representing and computing the
B-derivative of an EC^r vector field's PC^r flow), by the fields and surfaces of its ``test-bd.py``.

Fields F_b are indexed by the signs b of the guards; each guard rises through zero once. A state δx beside the corner
comes to the time of the corner's passage as B δx, with B = Ξ_last … Ξ_first in the order of the guards: without resets
Ξ = I + (F⁺ − F⁻) Dh / (Dh F⁻). The matrices are worked out by hand here, and held against the flow itself.
"""

from itertools import permutations

import numpy as np
import pytest

from hybrid_contact_ros.sensitivity.saltation import saltation

HALF = 0.5 * np.eye(2)
SQUARES = {(-1, -1): [1.0, 1.0], (-1, 1): [1.0, 0.5], (1, -1): [0.5, 1.0], (1, 1): [0.5, 0.5]}  # ν = 3/4, δ = 1/4
DEGENERATE = {(-1, -1): [1, 1, 1.0], (-1, 1): [1.0, 0.5, 1.0], (1, -1): [0.5, 1.0, 0.5], (1, 1): [0.5, 0.5, 0.5]}
CUBE = {
    (i, j, k): [0.7 - 0.3 * i, 0.7 - 0.3 * j, 0.7 - 0.3 * k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)
}  # 1 before and 0.4 behind each plane
WAVE = {
    (-1, -1): lambda x: np.array([1.0 + 0.375 * np.cos(x[0]), 1.0 + 0.375 * np.sin(x[1])]),
    (1, -1): lambda x: np.array([0.5 + 0.375 * np.cos(2 * np.pi * x[0]), 1.0 + 0.375 * np.sin(2 * np.pi * x[1])]),
    (-1, 1): lambda x: np.array([1.0 + 0.375 * np.cos(x[0]), 0.5 + 0.375 * np.sin(x[1])]),
    (1, 1): lambda x: np.array([0.5 + 0.1875 * np.cos(x[0]), 0.5 + 0.1875 * np.sin(x[1])]),
}


def constant(table):
    return {b: (lambda x, value=value: np.array(value)) for b, value in table.items()}


def planes(normals):
    return [lambda x, row=row: row @ x for row in np.array(normals)]


def curved():
    """The guards of 2d-nonlinear with the signs of its DH: there x³ − y and u² − v fall, (u, v) turned by 45°."""
    return [lambda x: x[1] - x[0] ** 3, lambda x: x[0] + x[1] - (x[0] - x[1]) ** 2 / np.sqrt(2.0)]


# name: fields, guards, their gradients at 0, and B by the order of the guards
CASES = {
    # B = I (ν − δ)/(ν + δ) in either order: S of the file
    "2d-contract": (constant(SQUARES), planes(np.eye(2)), np.eye(2), {(0, 1): HALF, (1, 0): HALF}),
    "2d-asym": (
        constant({(-1, -1): [1.0, 1.0], (-1, 1): [1.0, 0.75], (1, -1): [0.5, 1.0], (1, 1): [1.0, 0.5]}),
        planes(np.eye(2)),
        np.eye(2),
        {(0, 1): np.array([[0.5, 0.5], [0.0, 0.5]]), (1, 0): np.array([[1.0, 0.0], [-0.25, 0.75]])},
    ),
    "2d-angled": (
        constant(SQUARES),
        planes([[1.1, 0.4], [0.4, 1.1]]),
        np.array([[1.1, 0.4], [0.4, 1.1]]),
        {
            (0, 1): np.array([[19 / 30, -2 / 15], [-19 / 195, 233 / 390]]),
            (1, 0): np.array([[233 / 390, -19 / 195], [-2 / 15, 19 / 30]]),
        },
    ),
    "2d-nonlinear": (
        WAVE,
        curved(),
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        {
            (0, 1): np.array([[9 / 10, -11 / 20], [-4 / 15, 13 / 15]]),
            (1, 0): np.array([[49 / 38, -165 / 152], [-4 / 19, 15 / 19]]),
        },
    ),
    "3d-contract": (
        constant(CUBE),
        planes(np.eye(3)),
        np.eye(3),
        {order: 0.4 * np.eye(3) for order in permutations(range(3))},
    ),
    "3d-degen": (
        constant(DEGENERATE),
        planes(np.eye(3)[:2]),
        np.eye(3)[:2],
        {order: np.array([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [-0.5, 0.0, 1.0]]) for order in permutations(range(2))},
    ),
}


def selection(name, order):
    """B of one order, as a product of saltation matrices."""
    fields, _, normals, _ = CASES[name]
    here = np.zeros(normals.shape[1])
    side = [-1] * len(normals)
    matrix = np.eye(len(here))
    for i in order:
        before = fields[tuple(side)](here)
        side[i] = 1
        jump = saltation(np.eye(len(here)), normals[i], before, fields[tuple(side)](here))
        matrix = jump.apply(matrix)
    return matrix


def moved(field, x, time):
    """The flow of a field; a step of Runge and Kutta's, for times of 1e-3, is exact but for rounding."""
    a = field(x)
    b = field(x + 0.5 * time * a)
    c = field(x + 0.5 * time * b)
    return x + time / 6.0 * (a + 2 * b + 2 * c + field(x + time * c))


def passage(field, x, guard, gradient):
    """When a guard is zero along a field."""
    time = 0.0
    for _ in range(20):
        there = moved(field, x, time)
        time -= guard(there) / (gradient @ field(there))
    return time


def flow(name, x):
    """Where the state goes through all guards and back to the corner's instant, and the order of the guards."""
    fields, guards, normals, _ = CASES[name]
    side, order, elapsed = [-1] * len(guards), [], 0.0
    while -1 in side:
        field = fields[tuple(side)]
        times = {i: passage(field, x, guards[i], normals[i]) for i, s in enumerate(side) if s < 0}
        following = min(times, key=times.__getitem__)
        x, elapsed = moved(field, x, times[following]), elapsed + times[following]
        side[following] = 1
        order.append(following)
    return moved(fields[tuple(side)], x, -elapsed), tuple(order)


@pytest.mark.parametrize("name", CASES)
def test_products_of_saltation_matrices_are_the_matrices_derived_by_hand(name):
    for order, expected in CASES[name][3].items():
        np.testing.assert_allclose(selection(name, order), expected, atol=1e-15, rtol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_each_selection_takes_the_first_field_to_the_last(name):
    # B F₋ = F₊: a state that is late by dt is late by dt after the guards, too
    fields, _, normals, selections = CASES[name]
    here, m = np.zeros(normals.shape[1]), len(normals)
    for order in selections:
        after = selection(name, order) @ fields[(-1,) * m](here)
        np.testing.assert_allclose(after, fields[(1,) * m](here), atol=1e-15)


@pytest.mark.parametrize("name", [name for name in CASES if len(CASES[name][2]) == 2])
def test_selections_agree_where_both_guards_are_reached_together(name):
    fields, _, normals, _ = CASES[name]
    start = fields[(-1, -1)](np.zeros(normals.shape[1]))
    row = normals[0] / (normals[0] @ start) - normals[1] / (normals[1] @ start)
    together = np.eye(len(start)) - np.outer(row, row) / (row @ row)
    difference = selection(name, (0, 1)) - selection(name, (1, 0))
    np.testing.assert_allclose(difference @ together, 0.0, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_the_flow_has_the_selection_of_its_order(name):
    selections, curves = CASES[name][3], name == "2d-nonlinear"
    rng, seen, errors = np.random.default_rng(2), set(), []
    for _ in range(100):
        direction = rng.normal(size=CASES[name][2].shape[1])
        direction /= np.linalg.norm(direction)
        found = []
        for size in (1e-3, 5e-4):
            end, order = flow(name, size * direction)
            found.append(float(np.abs(end - size * selections[order] @ direction).max()))
            seen.add(order)
        errors.append(found)
    assert seen == set(selections)
    coarse, fine = np.max(errors, axis=0)
    if curves:
        assert fine < 0.02 * 5e-4
        assert 1.8 < np.log2(coarse / fine) < 2.2
    else:
        assert coarse < 1e-16  # constant fields and planes: the flow is its B-derivative
