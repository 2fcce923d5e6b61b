"""What the estimator publishes where friction jams a slide (Painlevé): bounded forces, or none and a word of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.codes import Flag, Jamming, Validity
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.kernels.modes.jamming import LARGEST_FORCES
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import Prediction

ROOT = Path(__file__).resolve().parents[2]
SLIPS = 0.05  # m/s, activation.slip_on


def estimator(name: str, urdf: Path, friction: float | None = None, learn: bool = True) -> ContactEstimator:
    """``learn``: the ground; not of streams whose positions stand still while their velocities do not."""
    config = EstimatorConfig.from_file(ROOT / "config" / f"{name}.yaml")
    if friction is not None:
        config = replace(config, contacts={k: replace(c, friction=friction) for k, c in config.contacts.items()})
    config = replace(config, ground=replace(config.ground, learn=learn))
    return ContactEstimator(RigidBodyModel.from_urdf(urdf, config), config)


@pytest.fixture
def anymal() -> ContactEstimator:
    try:
        return estimator("anymal", example_urdf("anymal_b_simple_description/robots/anymal.urdf"))
    except FileNotFoundError as error:
        pytest.skip(str(error))


def standing(model: RigidBodyModel, rng: np.random.Generator) -> np.ndarray:
    """A level posture, the lowest contact on the ground."""
    q = model.integrate(model.neutral(), np.r_[np.zeros(6), rng.uniform(-0.6, 0.6, model.nv - 6)])
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    return q


def sliding(model: RigidBodyModel, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A velocity with which the contact on the ground slides without leaving it."""
    v = 0.4 * rng.normal(size=model.nv)
    row = model.problem(RobotState(0, q, v)).normal_jacobian[np.argmin(model.problem(RobotState(0, q, v)).gap)]
    return v - row * (row @ v) / (row @ row)


def check_numbers(answer: Prediction) -> None:
    """Nothing published is infinite or absurd, and what is not known is NaN and marked."""
    mode, known = answer.mode, answer.mode.force_valid
    assert np.isfinite(mode.force_model[known]).all() and np.isnan(mode.force_model[~known]).all()
    assert np.isfinite(mode.friction_margin[known]).all() and np.isnan(mode.friction_margin[~known]).all()
    assert np.isfinite(mode.gap_acceleration).all()
    assert bool(mode.validity & Validity.FORCES) == bool(known.all())
    if answer.impact is not None:
        assert np.isfinite(answer.impact.velocities).all()


def test_a_sliding_foot_that_jams_is_answered_with_bounded_forces(anymal):
    """The shipped ANYmal: G_nn / (G_nt·d) of its feet goes down to 0.4, its friction is 0.8."""
    rng, model, held = np.random.default_rng(3), anymal.model, 0
    for k in range(300):
        q = standing(model, rng)
        effort = np.r_[np.zeros(6), 20.0 * rng.normal(size=model.nv - 6)]
        anymal.reset()
        answer = anymal.update(RobotState(k, q, sliding(model, q, rng), effort))
        check_numbers(answer)
        engine = anymal._engine
        assert not (answer.mode.jammed == Jamming.LOST).any() and answer.mode.force_valid.all()
        diagonal = np.diag(engine.measured.G).reshape(-1, 3).mean(axis=1)
        assert (diagonal * np.abs(answer.mode.force_model).max(axis=1)).max() <= LARGEST_FORCES * np.abs(
            engine.scratch.b
        ).max()
        jammed = np.flatnonzero(answer.mode.jammed == Jamming.HELD)
        held += jammed.size
        assert (answer.mode.critical_friction[jammed] <= 0.8 / 0.9).all()
        closed = jammed[answer.mode.closed[jammed]]
        assert (answer.stability.friction[closed] == Flag.UNDECIDED).all()
    assert held > 20


def test_where_no_mode_exists_forces_are_nan_flags_undecided_and_the_stream_goes_on():
    """A cube whose corners slide with a coefficient of 10: some of its states have no contact mode at all."""
    rng, thing = np.random.default_rng(0), estimator("cube", ROOT / "config" / "cube.urdf", 10.0, learn=False)
    model, lost, stamp = thing.model, 0, 0
    flat = model.neutral()
    flat[2] -= model.problem(RobotState(0, flat, np.zeros(6))).gap.min()
    rest = RobotState(0, flat, np.zeros(6), np.zeros(6))
    for _ in range(300):
        v = rng.normal(size=6) * [1.0, 1.0, 0.0, 0.0, 0.0, 4.0]
        push = rng.normal(size=6) * [8.0, 8.0, 2.0, 0.3, 0.3, 0.3]
        for _ in range(5):  # a slide is believed once it lasts
            stamp += 1_000_000
            answer = thing.update(RobotState(stamp, flat, v, push))
            check_numbers(answer)
        if answer.mode.validity & Validity.FORCES:
            continue
        lost += 1
        assert answer.mode.residual > 1e-8
        touching = thing._engine.scratch.touching.astype(bool)
        assert touching.any() and (answer.mode.force_valid == ~touching).all()
        flags = answer.stability
        for name in ("constraint_stability", "bounded_time_stability", "zeno", "grazing", "friction", "pseudo_impulse"):
            assert (getattr(flags, name) == Flag.UNDECIDED).all(), name
        for name in ("constraint_force", "gap_acceleration", "friction_margin", "pseudo_impulse_margin"):
            assert np.isnan(getattr(flags, name)).all(), name
        stamp += 60_000_000  # the low-passed slip has died out
        after = thing.update(RobotState(stamp, rest.q, rest.v, rest.effort))
        assert after.mode.validity & Validity.FORCES
        assert after.mode.force_model[:, 2].sum() == pytest.approx(9.81 * 0.37, rel=0.2)
    assert lost > 10
