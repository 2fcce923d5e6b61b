"""Forces that the momentum observer lays to all contacts, with the noise that it measures."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.averaged_forces import AVERAGED, AVERAGING, SPAN
from hybrid_contact_ros.kernels.estimation.free_forces import MOST_CONTACTS, FreeForces, free_forces
from hybrid_contact_ros.kernels.estimation.momentum_observer import ObserverMemory, observe_momentum

GAIN, DT, SHARE = 100.0, 1e-3, 50.0


class Forces:
    """m contacts of a body with nv coordinates, mass matrix M and rows J: on so many flat rectangles, ``soles``, or
    each by itself."""

    def __init__(self, m: int, nv: int, seed: int = 0, soles: int = 0) -> None:
        rng, n = np.random.default_rng(seed), 3 * m
        half = rng.normal(size=(nv, nv))
        self.mass, self.J, self.nv, self.m = half @ half.T + nv * np.eye(nv), rng.normal(size=(n, nv)), nv, m
        if soles:
            corners = np.array([[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]])  # m
            for sole in range(soles):
                twist = rng.normal(size=(6, nv))  # of the normal and two tangents, and about them
                for k, (x, y) in enumerate(corners):
                    spin = np.array([[0.0, y, -x], [-y, 0.0, 0.0], [x, 0.0, 0.0]])
                    row = 3 * (4 * sole + k)
                    self.J[row : row + 3] = twist[:3] + spin @ twist[[3, 4, 5]]
        self.rank = np.linalg.matrix_rank(self.J)
        self.scale = rng.uniform(0.5, 2.0, nv)
        self.L = np.linalg.cholesky(self.mass)
        self.motions = np.linalg.solve(self.mass, self.J.T).T.copy()
        self.products = self.motions @ self.motions.T
        self.memory = FreeForces(
            np.zeros(nv),
            np.full(1, -1.0),
            np.zeros(m),
            np.zeros((m, m)),
            np.zeros(m),
            np.zeros((AVERAGED, nv)),
            np.zeros(AVERAGING),
            np.zeros((m, n)),
        )
        self._A, self._work, self._forces = np.zeros((2 * n, n)), np.zeros((2, max(n, nv))), np.zeros((m, 3))

    def step(
        self,
        residual: np.ndarray,
        lead: float = 0.0,
        wrong: float = 0.0,
        level: float = 0.0,
        jitter: float = 0.0,
        dt: float = DT,
    ) -> bool:
        return bool(
            free_forces(
                lead, level, self.rank, SHARE, GAIN, dt, self.L, self.motions, self.products, residual,
                np.arange(self.m), wrong / self.scale, jitter / self.scale, self.memory, self._A, self._work,
                self._forces,
            )
        )  # fmt: skip


def test_forces_that_explain_the_residual_are_found_without_noise():
    body = Forces(4, 18)
    force = np.random.default_rng(1).normal(size=12)
    assert body.step(body.J.T @ force)
    assert body.memory.force == pytest.approx(force[::3], rel=1e-4, abs=1e-4)
    assert body.memory.noise[0] < 1e-6


def test_a_full_lead_undoes_the_lag_of_the_observer():
    body, force = Forces(4, 18), np.random.default_rng(1).normal(size=12)
    r = np.zeros(18)
    body.step(r, 1.0)
    lagging = Forces(4, 18)
    lagging.step(r, 0.0)
    for _ in range(3):
        r = (r + GAIN * DT * body.J.T @ force) / (1.0 + GAIN * DT)  # the observer's own equation
        body.step(r, 1.0)
        lagging.step(r, 0.0)
        assert body.memory.force == pytest.approx(force[::3], rel=1e-4, abs=1e-4)
    assert np.abs(lagging.memory.force).max() < 0.3 * np.abs(force[::3]).max()


def test_noise_and_covariance_are_those_of_the_errors():
    body, rng, sigma = Forces(3, 15, 2), np.random.default_rng(3), 0.7
    found = []
    for _ in range(4000):
        body.step(sigma * body.mass @ rng.normal(size=15))  # of velocities, coordinate by coordinate
        found.append(body.memory.force.copy())
    assert body.memory.noise[0] == pytest.approx(sigma**2, rel=0.25)
    wanted = sigma**2 * np.linalg.inv(body.products)[::3, ::3]
    assert np.cov(np.array(found).T) == pytest.approx(wanted, rel=0.2, abs=0.1 * np.abs(wanted).max())
    assert body.memory.covariance / body.memory.noise[0] == pytest.approx(
        wanted / sigma**2 * max(1.0, body.memory.covariance[0, 0] / body.memory.noise[0] / wanted[0, 0] * sigma**2),
        rel=1e-3, abs=1e-6,
    )  # fmt: skip


def test_an_impact_makes_forces_uncertain_for_no_longer_than_the_observer_remembers_it():
    body, rng, sigma = Forces(3, 15, 2), np.random.default_rng(3), 0.1
    impact = 100.0 * body.mass @ rng.normal(size=15)
    for k in range(320):
        fading = np.exp(-GAIN * DT * (k - 20)) if k >= 20 else 0.0
        body.step(sigma * body.mass @ rng.normal(size=15) + fading * impact)
        if k == 25:
            assert body.memory.noise[0] > 100.0
    assert body.memory.noise[0] < 4.0 * sigma**2


def test_contacts_that_leave_no_direction_free_have_none():
    assert not Forces(4, 12).step(np.ones(12))
    assert Forces(4, 13).step(np.ones(13))


def test_the_points_of_soles_share_a_force_that_is_known_in_a_way_that_is_not():
    body, rng = Forces(8, 18, soles=2), np.random.default_rng(3)
    assert body.rank == 12 < 18 < 24
    force = np.tile([50.0, 0.0, 0.0], 8)
    force[[3, 9]] = 0.0  # each sole 1 stands on its edge: 100 N and nothing
    force[[0, 6]] = 100.0
    for _ in range(200):
        noise = 0.05 * body.mass @ rng.normal(size=18)
        assert body.step(body.J.T @ force + noise)
    covariance, found = body.memory.covariance, body.memory.force
    for sole in (slice(0, 4), slice(4, 8)):
        of = np.sqrt(covariance[sole, sole].sum())
        assert of < 0.2 * SHARE < np.sqrt(np.diag(covariance)[sole]).min()
        assert abs(found[sole].sum() - force[::3][sole].sum()) < 4.0 * of
    # What the least force differs by from the true one is within what is not known of it.
    apart = found[:4] - force[:12:3]
    assert apart @ np.linalg.solve(covariance[:4, :4], apart) < 20.0


def test_more_contacts_than_the_limit_have_none():
    assert not Forces(MOST_CONTACTS + 1, 60).step(np.ones(60))


@pytest.mark.parametrize("wrong", [0.0, 0.02])
def test_wrong_efforts_make_forces_as_uncertain_as_their_errors_make_them_wrong(wrong):
    """The errors that are drawn here are what ``wrong`` says they are; the forces are those of least squares."""
    body, rng = Forces(2, 12), np.random.default_rng(5)
    assert body.step(body.J.T @ np.ones(6), wrong=wrong)
    assert np.array_equal(body.memory.doubt, np.zeros(2)) == (wrong == 0.0)
    torques = wrong / body.scale * rng.normal(size=(20000, 12))
    solve = np.linalg.solve(body.products, body.motions @ np.linalg.inv(body.mass))
    spread = np.var(torques @ solve.T, axis=0)[::3]
    assert body.memory.doubt == pytest.approx(spread, rel=0.05)
    assert np.diag(body.memory.covariance) == pytest.approx(body.memory.doubt, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize(("dt", "level"), [(1e-3, 0.0), (5e-3, 0.0), (1e-3, 0.05), (5e-3, 0.05)])
def test_white_noise_of_efforts_makes_forces_as_uncertain_as_the_observer_leaves_it(dt, level):
    """States that follow each other have noise in common: their mean is not more certain than it is said to be."""
    body, rng, jitter = Forces(2, 12), np.random.default_rng(5), 0.3
    observer, nothing = ObserverMemory(*np.zeros((4, 12)), np.array([-1.0, 0.0])), np.zeros(12)
    found, said = [], []
    for k in range(6000):
        efforts = jitter / body.scale * rng.normal(size=12)
        observe_momentum(GAIN, dt if k else 0.0, nothing, nothing, efforts, nothing, nothing, observer)
        body.step(observer.residual, lead=1.0, jitter=jitter, level=level, dt=dt)
        if k > 500:
            found.append(body.memory.force.copy())
            said.append(np.diag(body.memory.covariance))
    states = max(1, round(2.0 * body.memory.averaging[SPAN] / dt))  # in an average
    assert (states > 3) == (level > 0.0)
    several = 3 * states
    means = np.array(found)[: len(found) // several * several].reshape(-1, several, 2).mean(axis=1)
    said = np.mean(said, axis=0)
    assert (np.var(found, axis=0) < 1.1 * said).all() and (np.var(found, axis=0) > 0.3 * said).all()
    assert (np.var(means, axis=0) < 1.2 * said * states / several).all()
    if level > 0.0:
        assert np.sqrt(said.max()) == pytest.approx(level, rel=0.6)
