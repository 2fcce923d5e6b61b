"""The base of a robot from its legs and an inertial unit, without odometry: attitude from the unit, height and velocity
from the feet that stand.

With the base at the origin, kinematics give each contact's gap g_i to its plane and its velocity u_i. A foot that
stands does not move, so that the base has the velocity −u_i, and for a level plane the height −g_i. Which feet stand is
not known: a foot counts the less, the higher it is above the lowest one, and the less −u_i agrees with the velocity
that the last states and the accelerometer predict. Velocity and height are filters of first order with these as
measurements. Heights of feet that stand are never the same: attitude and joint zeros are off, and ground is not even.
How far they are apart is learned, and is no noise that averages out: each is off by the same for as long as it stands.
Where it is large, the height follows the velocity, and what stands alone moves it slowly. Without a foot that counts
they follow the accelerometer alone, which is right for the beginning of a flight: at its apex feet that do not move
look like feet that stand. Position along the ground is the integral of the velocity and drifts, as the heading of the
unit does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.prompt_rates import PromptRates
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.rotation import rotation_matrix
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError

Array = NDArray[np.float64]

_GRAVITY = np.array([0.0, 0.0, -9.81])
_HEIGHT = 0.02  # m above the lowest foot, at which a foot counts for 60 %
_AGREES = 0.3  # m/s, by which the velocity of a standing foot may differ from what is predicted
_SPEED = 0.05  # m/s, standard deviation of the velocity of a foot that stands
_GAP = 0.005  # m, of the height of one
_CALM = 0.03  # s, for which a foot that stands has agreed with the velocity
_LEARNED = 0.5  # s of standing, in which the spread of heights is learned
_STANCE = 0.2  # s, for which the height of a standing foot is off by the same
_SIGMAS = 2.0  # deviations of heights within which feet may stand
_JOLT = 0.15  # m/s: what no foot agrees with is an impact, or a flight that begins, and the velocity off by no more
_BEGINNING = 0.5  # m/s, of the velocity with which a robot is switched on
_DOUBT = 0.1  # m²/s³, by which the variance of the velocity grows while no foot agrees with it
_LOST = 0.3  # s; a robot that nothing carries for longer is not in flight: its velocity is wrong
_STANDS = 0.2  # count of a foot from which on one surely stands
_NOTHING = 0.05  # counts of all feet together, below which none carries
_DRIFT = 0.02  # m/√s, of the height
_ACCELERATION = 1.0  # m/s², of what the accelerometer misses, and
_UNKNOWN = 10.0  # without one
_FELT, _FALLS = 0.004, 4.0  # s, m/s²: a mean specific force below that is that of a fall
_FLIGHT = 0.05  # s of a fall: legs that swing pull a trunk down for less
_LONGEST_FALL = 1.0  # s, of 5 m: what seems to fall for longer has an accelerometer of another unit, which is not used
_ALOFT = 0.3  # m, height of the lowest foot of a robot that begins in the air
_HIGH = 0.1  # m, deviation of the height of one that flies
_PAUSE = 0.1  # s; after a longer one all begins anew
_ALONG = 1.0  # m, of positions along the ground, which nobody knows
_WINDOW = 0.008  # s, over which the velocity of the base is a mean
_ATTITUDE, _RATE = 0.01, 0.02  # rad and rad/s, where the unit does not state them


class LegBase(NamedTuple):
    """The base of one state.

    Attributes:
        numbers: (13,): position, quaternion x y z w, and linear and angular velocity in the axes of the base.
        covariance: (2, 6, 6), as of :class:`~hybrid_contact_ros.mechanics.state.RobotState`.
    """

    numbers: Array
    covariance: Array

    def below(self, state: RobotState) -> RobotState:
        """The state with this base in place of its own."""
        q, v = state.q.copy(), state.v.copy()
        q[:7], v[:6] = self.numbers[:7], self.numbers[7:]
        return replace(state, q=q, v=v, base_covariance=self.covariance, velocity_window=_WINDOW)


class BaseFromLegs:
    """The base of a stream of joint states and inertial measurements, without odometry.

    What ``input.base: imu`` does in nodes and replays:

        legs, estimator = BaseFromLegs(RigidBodyModel.from_urdf(urdf, config)), ContactEstimator(model, config)
        for state in states:  # with joints and ``imu``; q[:7] and v[:6] may be anything
            prediction = estimator.update(legs.with_base(state))

    Args:
        model: of a robot with a floating base; evaluated at other states by this, so give it one of its own.

    Raises:
        ValueError: the robot has no floating base, or no joints.
    """

    def __init__(self, model: RigidBodyModel) -> None:
        if not (model.floating_base and model.joint_names):
            missing = "joints: a body alone needs odometry" if model.floating_base else "floating base to look for"
            raise ValueError(f"input.base is imu (the base comes from legs), and the robot has no {missing}")
        self._model = model
        planar = np.linalg.norm(model.contact_normals, axis=1) > 0.0
        self._feet = np.flatnonzero(planar)
        axes = np.concatenate((model.contact_normals[:, None], model.contact_tangents), axis=1)
        self._axes = axes[self._feet]  # (k, 3, 3), normal first
        self._v = np.zeros(model.nv)
        self._rates = PromptRates(model)
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._rates.reset()
        self._begin()

    def _begin(self) -> None:
        self._stamp = 0
        self._since = 0  # when a foot stood last
        self._felt = 9.81  # m/s², mean specific force
        self._falling = 0.0  # s, for which it has been that of a fall
        self._known = _BEGINNING**2, _HIGH**2  # (m/s)², m², variances of velocity and height when something carried it
        self._alone = 0.0  # 1 where no foot stands, as far as is known
        self._position, self._velocity = np.zeros(3), np.zeros(3)
        self._speed_variance = self._height_variance = math.inf
        self._calm = np.zeros(self._feet.size)  # how far each foot has agreed lately
        self._jolt = 0.0  # (m/s)², by which no foot agrees with the velocity
        self._spread = 0.0  # m², of the heights of feet that stand, about the base's

    def with_base(self, state: RobotState) -> RobotState:
        """The state with the base that its joints and ``state.imu`` tell of, and its covariance; the next in time.

        Raises:
            UnusableStateError: there is no orientation or angular velocity, or the state cannot be computed with.
        """
        imu = state.imu
        if imu is None or imu.orientation is None or imu.angular_velocity is None:
            raise UnusableStateError("state.imu needs an orientation and an angular velocity")
        fault = state.wrong_type or state.wrong_shape(self._model.nq, self._model.nv)
        if fault is not None:
            raise UnusableStateError(fault)
        base = self.add(state.stamp_ns, state.q, state.v, imu)
        if base is not None:
            return base.below(state)
        q, v = state.q.copy(), state.v.copy()
        q[:7], v[:6] = 0.0, 0.0  # NaN are no fault there
        fault = replace(state, q=q, v=v).fault(self._model.nq, self._model.nv)
        raise UnusableStateError(fault or "the state is too large to compute with")

    def add(self, stamp_ns: int, joints: Array, rates: Array, imu: ImuMeasurement) -> LegBase | None:
        """The base of a state, the next in time; None where it cannot be computed.

        Args:
            joints: q (nq,) whose first seven entries mean nothing. rates: v (nv,), whose first six mean nothing.
            imu: with orientation and angular velocity.
        """
        if imu.orientation is None or imu.angular_velocity is None:
            return None
        seconds = 1e-9 * (stamp_ns - self._stamp)
        if not 0.0 < seconds <= _PAUSE:
            self._begin()
            seconds = 0.0
        self._stamp = stamp_ns
        turn, spin = (
            _later(imu.orientation, imu.angular_velocity, 1e-9 * (stamp_ns - imu.stamp_ns)),
            imu.angular_velocity,
        )
        q, v = joints.copy(), self._rates.prompt(stamp_ns, joints, rates).copy()
        q[:3], q[3:7] = 0.0, turn
        v[:3], v[3:6] = 0.0, spin
        model = self._model
        if not model.evaluate(RobotState(stamp_ns, q, v)):
            return None
        self._rates.note(stamp_ns)
        rotation = rotation_matrix(turn)
        self._predict(seconds, rotation, imu)
        gap = model.rows.gap[self._feet]
        moving = np.einsum("kij,j->ki", model.rows.rows[self._feet], v)
        speeds = -np.einsum("ki,kij->kj", moving, self._axes)  # of the base, if that foot stands
        self._correct(seconds, gap, speeds, self._carries(seconds, rotation, imu))
        linear = rotation.T @ self._velocity
        return LegBase(np.concatenate((self._position, turn, linear, spin)), self._covariance(imu, rotation))

    def _predict(self, seconds: float, rotation: Array, imu: ImuMeasurement) -> None:
        """Follow the accelerometer. Its place on the robot is neglected: that is of second order in the turning."""
        if not math.isfinite(self._speed_variance):
            return
        acceleration, missed = np.zeros(3), _UNKNOWN
        if imu.acceleration is not None and self._falling <= _LONGEST_FALL:
            acceleration, missed = rotation @ imu.acceleration + _GRAVITY, _ACCELERATION
        self._position = self._position + seconds * (self._velocity + 0.5 * seconds * acceleration)
        self._velocity = self._velocity + seconds * acceleration
        self._height_variance += seconds * (seconds * self._speed_variance + _DRIFT**2)
        self._speed_variance += seconds * (missed * missed * max(seconds, 0.001) + _DOUBT * self._alone**2)

    def _carries(self, seconds: float, rotation: Array, imu: ImuMeasurement) -> bool:
        """Whether anything carries the robot: the accelerometer of one that falls shows next to nothing that points
        upwards. Heavy legs that swing pull its trunk down by 7 m/s² and more meanwhile, and no ground does."""
        if imu.acceleration is None or not imu.acceleration.any():  # zeros are published by units without
            return True
        up = max(float(rotation[2] @ imu.acceleration), 0.0)
        self._felt += (1.0 - math.exp(-seconds / _FELT)) * (up - self._felt) if seconds else up - self._felt
        self._falling = 0.0 if self._felt > _FALLS else self._falling + seconds
        return self._felt > _FALLS or self._falling > _LONGEST_FALL

    def _correct(self, seconds: float, gap: Array, speeds: Array, carried: bool) -> None:
        """Take in feet: gaps (k,) of a base at the origin, and velocities (k, 3) of the base if they stand."""
        if not gap.size:
            return
        if not carried:
            if not math.isfinite(self._speed_variance):  # it begins in the air, nobody knows how high
                self._velocity, self._position[2] = np.zeros(3), _ALOFT - float(gap.min())
                self._speed_variance = _BEGINNING**2
                self._known = _BEGINNING**2, _HIGH**2
            elif float(gap.max()) + self._position[2] < -_HEIGHT - _SIGMAS * math.sqrt(self._spread):
                # It fell through where the ground was thought; a single foot steps down.
                self._position[2], self._known = _ALOFT - float(gap.min()), (self._speed_variance, _HIGH**2)
            self._height_variance = _HIGH**2
            self._alone, self._since = 1.0, self._stamp
            if self._falling > _FLIGHT:
                self._fly()
            return
        near = np.exp(-0.5 * (gap - gap.min()) ** 2 / (_HEIGHT**2 + _SIGMAS**2 * self._spread))
        if not math.isfinite(self._speed_variance):
            self._velocity, self._position[2] = np.zeros(3), -float(gap.min())
            self._speed_variance, self._height_variance = _BEGINNING**2, _GAP**2
            self._since = self._stamp
        off = ((speeds - self._velocity) ** 2).sum(axis=1) / (_AGREES**2 + self._speed_variance)
        agrees = 1.0 / (1.0 + off) ** 2
        counts = near * agrees
        self._note_spread(seconds, gap, agrees)
        counts *= min(1.0, float(counts.max()) / _STANDS)  # where all agree badly the robot flies, and none stands
        total = float(counts.sum())
        self._alone = max(0.0, 1.0 - total)
        self._since = self._since if total < _NOTHING else self._stamp
        if 1e-9 * (self._stamp - self._since) > _LOST:
            self._speed_variance = math.inf  # the next state begins anew
            return
        speed_gain = self._speed_variance / (self._speed_variance + _SPEED**2 / max(total, 1e-9))
        mean = counts @ speeds / max(total, 1e-9)
        self._velocity = self._velocity + speed_gain * (mean - self._velocity)
        self._speed_variance *= 1.0 - speed_gain
        left = ((speeds - self._velocity) ** 2).sum(axis=1)
        self._jolt = min(float(left.min()) / 3.0, _JOLT**2)  # an impact shakes the legs that stand, too
        level = float(counts @ -gap) / max(total, 1e-9)
        # What the feet say is off by the same for as long as they stand: at once they tell the height no better.
        unknown = max(self._height_variance - self._spread, 0.0)
        gain = unknown / (unknown + _GAP**2 / max(total, 1e-9))
        self._position[2] += gain * (level - self._position[2])
        self._height_variance -= gain * unknown
        # What is known that well follows them as slowly as they change.
        noise = _GAP**2 + self._spread * max(1.0, _STANCE / max(seconds, 1e-4))
        gain = self._height_variance / (self._height_variance + noise / max(total, 1e-9))
        self._position[2] += gain * (level - self._position[2])
        self._height_variance *= 1.0 - gain
        self._known = self._speed_variance, self._height_variance

    def _fly(self) -> None:
        """What flies for certain is shaken by nothing, and as well known as when something carried it last, but for
        what the accelerometer misses and where the velocity leads."""
        speed, height = self._known
        self._speed_variance = min(self._speed_variance, speed + 0.001 * _ACCELERATION**2 * self._falling)
        led = math.sqrt(height) + self._falling * math.sqrt(self._speed_variance)
        self._height_variance = min(_HIGH, led) ** 2
        self._alone = self._jolt = 0.0

    def _note_spread(self, seconds: float, gap: Array, agrees: Array) -> None:
        """Learn how far the heights of feet that stand are apart: attitude, joint zeros and ground are never exact."""
        self._calm += (1.0 - math.exp(-seconds / _CALM)) * (agrees - self._calm)
        weights = np.maximum(self._calm - 0.5, 0.0) * agrees
        total = float(weights.sum())
        known = self._height_variance < _HEIGHT**2 + self._spread  # else it tells where the base is, and not they
        if total > 0.0 and known:
            off = (gap + self._position[2]) ** 2
            part = 1.0 - math.exp(-seconds * min(total, 1.0) / _LEARNED)
            self._spread += part * (float(weights @ off) / total - self._spread)

    def _covariance(self, imu: ImuMeasurement, rotation: Array) -> Array:
        found = np.zeros((2, 6, 6))
        along = np.diag([_ALONG**2, _ALONG**2, self._height_variance])
        found[0, :3, :3] = rotation.T @ along @ rotation
        found[1, :3, :3] = np.diag(np.full(3, self._speed_variance + self._jolt))
        for part, known, sigma in ((0, imu.covariance[0], _ATTITUDE), (1, imu.covariance[1], _RATE)):
            found[part, 3:, 3:] = known if np.isfinite(known).all() else sigma**2 * np.eye(3)
        return found


def _later(turn: Array, spin: Array, seconds: float) -> Array:
    """The orientation ``seconds`` later, turned on with ``spin`` (axes of the base)."""
    angle = 0.5 * seconds * float(np.linalg.norm(spin))
    x, y, z = (0.5 * seconds * (math.sin(angle) / angle if angle > 0.0 else 1.0) * spin).tolist()
    s = math.cos(angle)
    a, b, c, w = turn.tolist()
    found = np.array(
        [
            w * x + a * s + b * z - c * y,
            w * y - a * z + b * s + c * x,
            w * z + a * y - b * x + c * s,
            w * s - a * x - b * y - c * z,
        ]
    )
    return np.asarray(found / np.linalg.norm(found))
