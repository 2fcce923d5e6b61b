"""Arms that rest above a table, or press on it."""

import numpy as np
import pinocchio

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

ARMS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0", [0.0, -1.2, 1.9, -2.27, -1.57, 0.0]),
    "xarm": ("xarm_description/urdf/xarm7.urdf", "link_eef", [0.0, 0.2, 0.0, 1.4, 0.0, 1.2, 0.0]),
}
STEP = 0.002  # s


def estimator(name, offset, **config):
    """Of an arm above a table at the height ``offset`` (m)."""
    urdf, tip, _ = ARMS[name]
    contact = {"link": tip, "radius": 0.01, "friction": 0.3, "environment": "table"}
    given = {"floating_base": False, "environments": {"table": {"offset": offset}}, "contacts": {"tip": contact}}
    chosen = EstimatorConfig.from_mapping({**given, **config})
    return ContactEstimator(RigidBodyModel.from_urdf(example_urdf(urdf), chosen), chosen)


def height(name, q):
    return float(estimator(name, 0.0).model.problem(RobotState(0, q, np.zeros(q.size))).gap[0])


class Arm:
    """An arm that is fed states in which its tip rests over the place of a table.

    Attributes:
        engine: of ``estimator``, whose table is at the height that was told, which may be wrong.
    """

    def __init__(self, name, off=0.0, wrong=0.0, noise=0.0, seed=0, **config):
        """off: m, by which the table is below where it is configured. wrong: part by which efforts are too large and
        too small, joint by joint. noise: standard deviation of positions (rad), and a 25th of that of velocities."""
        self.name, self.q = name, np.array(ARMS[name][2])
        self.engine = estimator(name, height(name, self.q) + off, **config)
        self._robot = self.engine.model.pinocchio_model
        self._data, self._rng = self._robot.createData(), np.random.default_rng(seed)
        self._scale, self._noise, self._count = 1.0 + wrong * (-1.0) ** np.arange(self.q.size), noise, 0

    def row(self, q):
        """Of the tip's height (nv,)."""
        frame = self._robot.getFrameId(ARMS[self.name][1])
        return pinocchio.computeFrameJacobian(self._robot, self._data, q, frame, pinocchio.LOCAL_WORLD_ALIGNED)[2]

    def tip(self, q):
        """Height of the tip, m."""
        pinocchio.framesForwardKinematics(self._robot, self._data, q)
        return self._data.oMf[self._robot.getFrameId(ARMS[self.name][1])].translation[2]

    def over(self, gap):
        """The posture nearest to the first one whose tip is ``gap`` (m) over the table."""
        q, start = self.q, self.tip(self.q)
        for _ in range(8):
            J = self.row(q)
            q = q + J * (start + gap - self.tip(q)) / (J @ J)
        return q

    def state(self, q, v, a, presses=0.0):
        """The mode of one state, 2 ms after the one before."""
        effort = pinocchio.rnea(self._robot, self._data, q, v, a) - presses * self.row(q)
        noisy = self._noise * self._rng.normal(size=(2, q.size))
        stamp = 1 + self._count * round(1e9 * STEP)
        self._count += 1
        return self.engine.update(RobotState(stamp, q + noisy[0], v + 25.0 * noisy[1], self._scale * effort)).mode

    def rest(self, gap, presses=0.0, seconds=0.4):
        """The modes of resting over the table, or on it, for some time."""
        q = self.over(gap)
        zero = np.zeros(q.size)
        return [self.state(q, zero, zero, presses) for _ in range(round(seconds / STEP))]


def arm(name, gap, presses=0.0, seconds=0.4, before=(), wrong=0.0, **config):
    """The last mode of an arm that rests ``gap`` (m) above a table for some time, and presses with a force (N).
    ``before``: (q, v, a) of states that come first, in the air. ``wrong``: as of :class:`Arm`."""
    thing = Arm(name, off=-gap, wrong=wrong, **config)
    for q, v, a in before:
        thing.state(q, v, a)
    return thing.rest(0.0, presses, seconds)[-1]


def waved(name, seconds=8.0):
    """Motion of all joints in the air, which ends at rest where it began: (q, v, a) every 2 ms."""
    q = np.array(ARMS[name][2])
    lift = np.zeros(q.size)
    lift[1] = -0.3
    w = 2.0 * np.pi / seconds * np.arange(2, 2 + q.size)
    for t in np.arange(0.0, seconds, 0.002):
        s, c = np.sin(w * t), np.cos(w * t)
        e, de = np.sin(np.pi * t / seconds) ** 2, np.pi / seconds * np.sin(2.0 * np.pi * t / seconds)
        dde = 2.0 * (np.pi / seconds) ** 2 * np.cos(2.0 * np.pi * t / seconds)
        x, dx, ddx = lift + 0.15 * s, 0.15 * w * c, -0.15 * w * w * s
        yield q + e * x, de * x + e * dx, dde * x + 2.0 * de * dx + e * ddx
