"""Systems of constant inertia and straight constraints whose contacts come down together, and what they do."""

import numpy as np

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.execution import ExecutionEventKind
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox


class Flat:
    """Constant inertia, straight constraints and a constant force."""

    standing: tuple[int, ...] = ()

    def __init__(self, seed, m, nv, friction, restitution=0.0):
        rng = np.random.default_rng(seed)
        root, normals, v = rng.normal(size=(nv, nv)), rng.normal(size=(m, nv)), rng.normal(size=nv)
        mass = root @ root.T + 0.5 * np.eye(nv)
        normals *= -np.sign(normals @ v)[:, None]
        tangents, weights = rng.normal(size=(m, nv)), np.linalg.inv(mass)
        tangents -= 0.9 * tangents @ weights @ normals.T @ np.linalg.solve(normals @ weights @ normals.T, normals)
        mu, e, self.force = np.full(m, friction), np.full(m, restitution), rng.normal(size=nv)
        self.v = v
        self._case = ContactProblem(mass, v, normals, tangents[:, None], mu, e, bias_force=self.force)
        self.falling = -np.linalg.solve(mass, self.force)

    def problem(self, q, v):
        return self._case.replace_trusted(velocity=np.array(v), gap=self._case.normal_jacobian @ np.asarray(q))

    def run(self, deviation, time):
        """The execution from ``time`` before the corner's instant to as long after it."""
        dq, dv = deviation.reshape(2, -1)
        q = dq - (self.v + dv) * time + 0.5 * self.falling * time**2
        start = self.v + dv - self.falling * time
        assert np.delete(self.problem(q, start).gap, self.standing).min() > 0.0
        mode = self.standing or None
        return simulate(self, q, start, 2.0 * time, law="simultaneous", max_step=1.0, gap_tolerance=1e-14, mode=mode)


class Standing(Flat):
    """The same, where contact 0 stands, pressed down with some friction, as the others come down."""

    standing = (0,)

    def __init__(self, seed, m, nv, friction, restitution=0.0):
        super().__init__(seed, m, nv, friction, restitution)
        rng, case = np.random.default_rng([seed, 1]), self._case
        rows = np.vstack((case.normal_jacobian[0], case.tangent_jacobian[0]))
        self.hold = np.eye(nv) - np.linalg.pinv(rows) @ rows  # what leaves contact 0 at rest
        self.v, self.falling = self.hold @ rng.normal(size=nv), self.hold @ rng.normal(size=nv)
        normals = case.normal_jacobian.copy()
        normals[1:] *= -np.sign(normals[1:] @ self.v)[:, None]
        self.force = 3.0 * np.array([1.0, 0.3 * friction]) @ rows - case.mass @ self.falling
        self._case = case.replace(velocity=self.v, normal_jacobian=normals, bias_force=self.force)


def touchdowns(run):
    return tuple(e.contacts for e in run.events if e.kind == ExecutionEventKind.TOUCHDOWN)


def box():
    corners = [Corner("left", -0.2, -0.1, (0.0, 1.0)), Corner("right", 0.2, -0.1, (0.0, 1.0))]
    return PlanarBox(0.4, 0.2, 1.0, 0.5, corners)
