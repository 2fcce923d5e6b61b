"""Painlevé's case in the live solve: what slides and jams is held, and forces stay bounded, on every robot there is."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART, FREE, HELD, LARGEST, LOST
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state

FRICTION = 0.8
SLIP_SPEED = 0.05
MOST = 6  # tips that are contacts


def every_urdf() -> list[Path]:
    try:
        root = example_urdf("go2_description/urdf/go2.urdf").parents[2]
    except FileNotFoundError:
        return []
    return sorted(root.rglob("*.urdf"))


def tips(urdf: Path) -> list[str]:
    """Links at the ends of the robot: the last one of each chain that a joint moves."""
    joints = list(ElementTree.parse(urdf).iter("joint"))
    parent_of = {j.find("child").get("link"): j for j in joints if j.find("child") is not None}
    parents = {j.find("parent").get("link") for j in joints if j.find("parent") is not None}
    found = {}
    for link in parent_of.keys() - parents:
        joint = parent_of[link]
        while joint is not None and joint.get("type") == "fixed":
            joint = parent_of.get(joint.find("parent").get("link"))
        if joint is not None:
            found.setdefault(joint.get("name"), link)
    return sorted(found.values())[:MOST]


@lru_cache
def tipped(urdf: Path) -> RigidBodyModel:
    """The robot with a floating base and points at its tips; ValueError where the suite refuses the URDF."""
    contacts = {f"tip_{i}": {"link": link, "friction": FRICTION} for i, link in enumerate(tips(urdf))}
    return RigidBodyModel.from_urdf(urdf, EstimatorConfig.from_mapping({"contacts": contacts}))


def drawn(model: RigidBodyModel, rng: np.random.Generator) -> tuple[ContactProblem, np.ndarray]:
    """A posture with its tips sliding, some of them touching, under efforts."""
    q = model.integrate(model.neutral(), rng.uniform(-0.7, 0.7, model.nv))
    effort = 5.0 * rng.normal(size=model.nv)
    effort[:6] = 0.0
    problem = model.problem(RobotState(0, q, 0.5 * rng.normal(size=model.nv), effort))
    return problem, (rng.random(problem.contacts) < 0.7).astype(np.uint8)


def live(problem: ContactProblem) -> ModeWorkspace:
    return ModeWorkspace(problem.nv, problem.contacts, problem.tangents, critical_part=CRITICAL_PART)


def scaled_forces(work: ModeWorkspace) -> np.ndarray:
    """g_i |λ_i| (m,), over the largest free acceleration."""
    m, w = work.forces.shape
    diagonal = np.diag(work.delassus).reshape(m, w).mean(axis=1)
    return diagonal * np.abs(work.forces).max(axis=1) / np.abs(work.free).max()


@pytest.mark.parametrize("urdf", every_urdf(), ids=lambda path: "/".join(path.parts[-3:]))
def test_forces_of_sliding_tips_are_bounded_and_obey_coulomb_on_every_robot(urdf):
    try:
        model = tipped(urdf)
    except ValueError as refused:
        pytest.skip(f"the suite refuses this URDF: {str(refused)[:60]}")
    if not model.contacts:
        pytest.skip("it has no link that a joint moves")
    rng = np.random.default_rng(len(urdf.name))
    work, held = None, 0
    for _ in range(25):
        problem, touching = drawn(model, rng)
        work = work or live(problem)
        code, residual, _ = work.solve(problem, touching, SLIP_SPEED)
        assert code == Status.SOLVED and residual <= 1e-8
        assert scaled_forces(work).max() <= LARGEST
        assert not (work.jammed == LOST).any()
        normal, tangential = work.forces[:, 0], np.linalg.norm(work.forces[:, 1:], axis=1)
        room = 1e-6 * (1.0 + np.abs(work.forces).max())
        assert (normal >= -room).all() and (tangential <= FRICTION * normal + room).all()
        assert (work.forces[touching == 0] == 0.0).all()
        held += int((work.jammed == HELD).sum())
        slides = np.linalg.norm((problem.jacobian() @ problem.velocity).reshape(-1, 3)[:, 1:], axis=1) > SLIP_SPEED
        jam = slides & (touching == 1) & (problem.friction >= CRITICAL_PART * work.critical_friction)
        assert (work.jammed[jam] == HELD).all()  # and others only where no mode was found with them sliding
        assert (work.jammed[~slides | (touching == 0)] == FREE).all()
    assert work.critical_friction.min() > 0.0


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 3.0))
def test_critical_friction_is_where_pressing_harder_no_longer_lifts(seed, speed):
    """At the critical coefficient a unit of sliding force leaves the contact's normal acceleration as it is."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(3, 4))
    rows = rng.normal(size=(3, 4))
    velocity = np.linalg.lstsq(rows, np.r_[0.0, speed * np.array([0.6, 0.8])], rcond=None)[0]
    problem = ContactProblem(np.eye(4) + half.T @ half, velocity, rows[:1], rows[None, 1:], np.array([0.3]))
    work = live(problem)
    work.solve(problem, np.ones(1, np.uint8), 0.01)
    critical = work.critical_friction[0]
    push = np.array([1.0, -0.6 * critical, -0.8 * critical]) if np.isfinite(critical) else np.array([1.0, -0.6, -0.8])
    lift = work.delassus[0] @ push
    if np.isfinite(critical):
        assert abs(lift) <= 1e-9 * np.abs(work.delassus[0] * push).sum()
    else:
        assert lift > 0.0


def rod(angle: float, friction: float) -> ContactProblem:
    """Painlevé's rod at this angle (rad) with the ground, its end slipping towards where friction presses it in."""
    q, v = rod_state(angle, slip=-1.0, rate=0.0)
    return painleve_rod(friction).problem(np.array(q), np.array(v))


@pytest.mark.parametrize("angle", [0.5, 0.9, float(np.arctan(2.0)), 1.3])
def test_critical_friction_of_painleves_rod_is_the_textbooks(angle):
    """μ = (4 + tan² θ) / (3 tan θ) (Génot, Brogliato 1999), at least 4/3."""
    work = live(rod(angle, 0.1))
    work.solve(rod(angle, 0.1), np.ones(1, np.uint8), SLIP_SPEED)
    assert work.critical_friction[0] == pytest.approx((4.0 + np.tan(angle) ** 2) / (3.0 * np.tan(angle)), rel=1e-9)


@pytest.mark.parametrize("friction", [1.25, 1.4, 2.0, 10.0])
def test_a_rod_that_jams_has_no_sliding_mode_and_is_held_at_rest(friction):
    problem, touching = rod(float(np.arctan(2.0)), friction), np.ones(1, np.uint8)
    exact = ModeWorkspace(problem.nv, 1, problem.tangents)  # the law as it stands, as used offline
    code = exact.solve(problem, touching, SLIP_SPEED)[0]
    assert exact.jammed[0] == FREE
    if friction > 4.0 / 3.0:
        assert code == Status.INACCURATE and np.abs(exact.forces).max() == 0.0  # and no diverged iterate
    else:  # it slides, with forces that are ten times as large as without friction, and more
        assert code == Status.SOLVED and scaled_forces(exact)[0] > 10.0
    work = live(problem)
    code, residual, _ = work.solve(problem, touching, SLIP_SPEED)
    assert code == Status.SOLVED and residual <= 1e-8
    assert work.jammed[0] == HELD and work.moving[0] == 0
    sticking = np.linalg.solve(work.delassus, -work.free)  # no acceleration of the contact point
    assert abs(sticking[1]) <= friction * sticking[0]
    np.testing.assert_allclose(work.forces[0], sticking, rtol=1e-6)


def test_a_slide_below_the_margin_is_solved_as_a_slide():
    problem = rod(float(np.arctan(2.0)), 1.1)
    work = live(problem)
    assert work.solve(problem, np.ones(1, np.uint8), SLIP_SPEED)[0] == Status.SOLVED
    assert work.jammed[0] == FREE and work.moving[0] == 1
    assert abs(work.forces[0, 1]) == pytest.approx(1.1 * work.forces[0, 0])
