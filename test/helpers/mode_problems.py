"""Contact problems for the tests of modes: random, textbook, degenerate."""

import numpy as np
from hypothesis import strategies as st

from hybrid_contact_ros.mechanics.problem import ContactProblem

GRAVITY = 9.81


def random_problem(seed, nv, contacts, tangents=1, friction=None, moving=False):
    """Regular M, independent contacts, all of them touching; at rest, or with every gap closing or still."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(nv, nv))
    rows = rng.normal(size=(contacts, 1 + tangents, nv))
    velocity = rng.normal(size=nv) if moving else np.zeros(nv)
    return ContactProblem(
        root @ root.T + 0.3 * np.eye(nv),
        velocity,
        rows[:, 0],
        rows[:, 1:],
        rng.uniform(0.0, 1.0, contacts) if friction is None else np.full(contacts, friction),
        bias_force=5.0 * rng.normal(size=nv),
        jacobian_drift=rng.normal(size=(contacts, 1 + tangents)),
    )


seeds = st.integers(0, 2**32 - 1)


def frictionless(seed, contacts, moving=False):
    return random_problem(seed, contacts + 2, contacts, friction=0.0, moving=moving)


def point_on_slope(angle, friction, speed=0.0, tangents=1):
    """A point mass of 2 kg on a slope: coordinates along the slope and away from it."""
    mass = 2.0
    rows = np.zeros((1, 1 + tangents, 1 + tangents))
    rows[0, 0, -1] = 1.0
    for k in range(tangents):
        rows[0, 1 + k, k] = 1.0
    weight = np.zeros(1 + tangents)
    weight[0] = mass * GRAVITY * np.sin(angle)
    weight[-1] = mass * GRAVITY * np.cos(angle)
    velocity = np.zeros(1 + tangents)
    velocity[0] = speed
    return ContactProblem(mass * np.eye(1 + tangents), velocity, rows[:, 0], rows[:, 1:], [friction], bias_force=weight)


def rod(positions=(-0.5, 0.5), force_at=0.0, friction=0.5, velocity=(0.0, 0.0, 0.0)):
    """A level planar rod (x, y, angle) of 1 kg and 1/12 kg m² on contact points at ``positions`` along it.

    Its weight acts at ``force_at`` along the rod.
    """
    rows = np.zeros((len(positions), 2, 3))
    for i, x in enumerate(positions):
        rows[i, 0] = (0.0, 1.0, x)
        rows[i, 1] = (1.0, 0.0, 0.0)
    return ContactProblem(
        np.diag([1.0, 1.0, 1.0 / 12.0]),
        velocity,
        rows[:, 0],
        rows[:, 1:],
        np.full(len(positions), friction),
        bias_force=[0.0, GRAVITY, GRAVITY * force_at],
    )


def foot(bias, friction=0.6, velocity=(0.0,) * 6):
    """A free body of 1 kg standing on the four corners of its flat sole: twelve rows of rank six."""
    rows = np.zeros((4, 3, 6))
    for i, (x, y) in enumerate([(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)]):
        z = -0.05
        lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        point = np.hstack((np.eye(3), lever))
        rows[i] = point[[2, 0, 1]]
    return ContactProblem(
        np.diag([1.0, 1.0, 1.0, 0.01, 0.012, 0.02]),
        velocity,
        rows[:, 0],
        rows[:, 1:],
        np.full(4, friction),
        bias_force=bias,
    )


def massless_leg(friction=1.0, hip_torque=0.0, velocity=(0.0, 0.0, 0.0)):
    """A 3 kg point mass (x, y) with a massless leg of 0.5 m hanging down (angle θ from the vertical) to a foot.

    The foot is at (x + l sin θ, y − l cos θ); M has no inertia along θ. ``hip_torque`` acts on θ.
    """
    length, mass = 0.5, 3.0
    normal = [[0.0, 1.0, 0.0]]  # θ = 0: ∂(y − l cos θ)/∂θ = 0
    tangent = [[[1.0, 0.0, length]]]
    return ContactProblem(
        np.diag([mass, mass, 0.0]),
        velocity,
        normal,
        tangent,
        [friction],
        bias_force=[0.0, mass * GRAVITY, -hip_torque],
    )


def flat_rows(problem):
    """J as (m, 1 + d, nv)."""
    return problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)


def frictional_violation(problem, solution, touching):
    """Largest violation of Coulomb complementarity of a force-acceleration solution, written from the definition."""
    rows = flat_rows(problem)
    forces, acceleration = solution.forces, solution.acceleration
    pushed = np.einsum("ijk,ij->k", rows, forces)
    worst = np.abs(problem.mass @ acceleration + problem.bias_force - pushed).max(initial=0.0)
    contact = np.einsum("ijk,k->ij", rows, acceleration) + problem.jacobian_drift
    speed = np.einsum("ijk,k->ij", rows, problem.velocity)
    for i in range(problem.contacts):
        normal, tangential = forces[i, 0], forces[i, 1:]
        if i not in touching:
            worst = max(worst, np.abs(forces[i]).max())
            continue
        worst = max(worst, -normal, -contact[i, 0], min(abs(normal), abs(contact[i, 0])))
        limit = problem.friction[i] * normal
        worst = max(worst, np.linalg.norm(tangential) - limit)
        motion = speed[i, 1:] if np.linalg.norm(speed[i, 1:]) > 1e-6 else contact[i, 1:]
        if np.linalg.norm(motion) > 1e-5:
            worst = max(worst, np.linalg.norm(tangential + limit * motion / np.linalg.norm(motion)))
    return worst
