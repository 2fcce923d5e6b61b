"""A robot from its URDF: the contact problem of any of its states, in one call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.kernels.bound import Bound
from hybrid_contact_ros.kernels.given import Given
from hybrid_contact_ros.kernels.mechanics.contact_problem import Measured, ProblemOut, contact_problem_given
from hybrid_contact_ros.kernels.mechanics.contact_rows import RowsOut
from hybrid_contact_ros.kernels.mechanics.joint_motion import momentum_rate
from hybrid_contact_ros.mechanics.commands import DriveLimits
from hybrid_contact_ros.mechanics.contact_points import contact_table
from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.inertia import check_inertia
from hybrid_contact_ros.mechanics.joints import JointMap
from hybrid_contact_ros.mechanics.kernel_tables import (
    body_inertia,
    joint_state,
    joint_tree,
    limits_of,
    require_shared,
    spheres_of,
)
from hybrid_contact_ros.mechanics.model_hash import model_hash
from hybrid_contact_ros.mechanics.plausibility import Plausibility
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.mechanics.urdf import Urdf, read_urdf

Array = NDArray[np.float64]


class RigidBodyModel:
    """A tree of rigid bodies with contacts, computed by Pinocchio.

    Coordinates are those of Pinocchio (:class:`RobotState`), except that a joint that mimics another has none of its
    own. Gravity is 9.81 m/s² along −z. Contacts are spheres on links (radius 0: points) against fixed planes, followed
    by joint limits; their names, planes and coefficients come from the configuration.

    A pendulum, whose lower joint limit is its only contact:

    >>> from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotState
    >>> urdf = '''<robot name="pendulum"><link name="world"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/>
    ...   <mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ...   <joint name="hinge" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/>
    ...   <limit lower="-0.5" upper="2" effort="9" velocity="9"/></joint></robot>'''
    >>> model = RigidBodyModel.from_urdf(urdf, EstimatorConfig(floating_base=False, joint_limits=("hinge",)))
    >>> problem = model.problem(RobotState(stamp_ns=0, q=model.neutral(), v=model.neutral()))
    >>> model.contact_names, problem.gap.tolist(), problem.mass.round(6).tolist()
    (('hinge_lower', 'hinge_upper'), [0.5, 2.0], [[0.6]])

    :meth:`evaluate` writes memory of the model, and :meth:`problem` copies from there: call them from one thread at a
    time.

    Attributes:
        nq, nv: sizes of q and v. floating_base: whether v starts with the root link's velocity.
        root_link: the link whose motion odometry measures, with a floating base.
        contacts: m. contact_names, contact_frames: name and URDF link of each contact.
        velocity_names: (nv), ``<root>_linear_x`` … ``<root>_angular_z`` for a floating base, then joint names.
        velocity_units: (nv), "m/s" or "rad/s" of each of them.
        joint_names: joints with coordinates, in the model's order. mimic_names: those that follow another.
        friction, restitution: (m,). hash: uint64 over the URDF's text and the configuration of its contacts.
        contact_normals: (m, 3), contact_tangents: (m, 2, 3), world frame; zero for joint limits. Never written.
        contact_positions: (m, 3), m, world frame, for the last state given to :meth:`problem`: the point of each sphere
            nearest to its plane, or the origin of the joint, for a limit.
        tree, bodies, spheres: constants of the robot; joints, measured, velocity, here, rows: what :meth:`evaluate`
            overwrites. These are records of the kernels, and v (nv,).
        drives: :class:`~hybrid_contact_ros.mechanics.commands.DriveLimits`: what drives can give.
        pinocchio_model, pinocchio_data: the full model, in which mimic joints have coordinates of their own (see
            :attr:`coordinates`).
    """

    def __init__(self, urdf: Urdf, config: EstimatorConfig) -> None:
        model = urdf.pinocchio_model(config.floating_base)
        self.pinocchio_model = model
        self.coordinates = Coordinates(model, urdf, config.floating_base)
        check_inertia(model, self.coordinates)
        self._table = contact_table(config, urdf, model)
        self.pinocchio_data = model.createData()

        self.floating_base = config.floating_base
        self.root_link = urdf.root
        self._joint_types = urdf.joint_types
        self.nq, self.nv = self.coordinates.nq, self.coordinates.nv
        self._sizes = (self.nq,), (self.nv,)
        self.joint_names = self.coordinates.joints
        self.mimic_names = self.coordinates.followers
        base = tuple(f"{urdf.root}_{kind}_{axis}" for kind in ("linear", "angular") for axis in "xyz")
        self.velocity_names = (base if config.floating_base else ()) + self.joint_names
        sliding = ("m/s" if urdf.joint_types[name] == "prismatic" else "rad/s" for name in self.joint_names)
        self.velocity_units = (("m/s",) * 3 + ("rad/s",) * 3 if config.floating_base else ()) + tuple(sliding)
        self.contact_names = self._table.names
        self.contact_frames = self._table.frames
        self.contacts = len(self.contact_names)
        self.friction, self.restitution = self._table.friction, self._table.restitution
        self.contact_normals, self.contact_tangents = self._table.normal, self._table.tangent
        self.contact_positions = np.zeros((self.contacts, 3))
        self.drives = DriveLimits(model, self.coordinates)
        self.hash = model_hash(urdf, config)
        self._prepare()

    @classmethod
    def from_urdf(cls, urdf: str | Path, config: EstimatorConfig) -> RigidBodyModel:
        """Make a model from URDF text (it starts with ``<``) or a file. Meshes are not loaded.

        Raises:
            ValueError: the URDF cannot be read, has joints that are not supported or parts without inertia, or the
                configuration names a link or joint that it does not have. The text says what to change.
        """
        return cls(read_urdf(urdf, config.locked_joints), config)

    def _prepare(self) -> None:
        """Lay out the tables and views that are handed to the kernels."""
        model, data, m = self.pinocchio_model, self.pinocchio_data, self.contacts
        self.tree, self.bodies = joint_tree(model, self.coordinates), body_inertia(model)
        self.spheres, limits = spheres_of(self._table), limits_of(self._table)
        self.joints = joint_state(model, data)
        self.measured = Measured(np.zeros(model.nq), np.zeros(model.nv), np.zeros(self.nv))
        # v in independent coordinates: the same array, unless joints mimic others
        self.velocity = self.measured.velocity if self.coordinates.reduction is None else np.zeros(self.nv)
        self.here = ProblemOut(np.zeros((self.nv, self.nv)), np.zeros(self.nv), np.zeros((model.njoints, 12)))
        self.rows = RowsOut(np.zeros((m, 3, self.nv)), np.zeros(m), np.zeros((m, 3)), np.zeros((m, 3)))
        self._contact_problem = Bound(
            contact_problem_given,
            Given(*self.tree, *self.spheres, *limits, *self.joints, *self.measured, *self.here, *self.rows),
        )
        bent = self.problem(RobotState(0, self.bent(), np.zeros(self.nv)))  # compiles or loads the kernel
        rows = np.vstack((bent.normal_jacobian, bent.tangent_jacobian.reshape(-1, self.nv)))
        # Of the rows of all contacts, in general: so many directions of motion forces at the contacts explain. It is
        # less than 3m where links have several points: forces at three of them, or more, are a force and a moment.
        self.contact_rank = int(np.linalg.matrix_rank(rows)) if rows.size else 0
        self.problem(RobotState(0, self.neutral(), np.zeros(self.nv)))
        require_shared(self.joints, model, data)

    @property
    def driven(self) -> NDArray[np.bool_]:
        """(nv,): the joints' coordinates, which have drives; the six of a floating base have none."""
        return np.arange(self.nv) >= (6 if self.floating_base else 0)

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero and the base at the origin."""
        full = pin.neutral(self.pinocchio_model)
        return self.coordinates.reduced_position(full)

    def bent(self) -> Array:
        """A configuration (nq,) near the neutral one in which no joint is straight: up to 0.2 rad (m) from there."""
        step = np.zeros(self.nv)
        step[self.driven] = np.random.default_rng(0).uniform(-0.2, 0.2, np.count_nonzero(self.driven))
        return self.integrate(self.neutral(), step)

    def evaluate(self, state: RobotState) -> bool:
        """Compute everything that decides what the contacts do at one state, into :attr:`here` and :attr:`rows`.

        Pinocchio computes M, h, the joint Jacobian and the placements, and one kernel makes the contact problem of
        them. The arrays of the state are copied, whatever their type and layout.

        Returns:
            Whether the state is finite, and not so large that forces or gaps are not.

        Raises:
            UnusableStateError: an array of the wrong size. This is a ValueError.
        """
        q, v, effort = self.measured
        if state.q.shape != self._sizes[0] or state.v.shape != self._sizes[1]:
            raise UnusableStateError(state.fault(self.nq, self.nv))
        if state.effort is None:
            effort.fill(0.0)
        elif state.effort.shape != self._sizes[1]:
            raise UnusableStateError(state.fault(self.nq, self.nv))
        else:
            effort[:] = state.effort
        self.velocity[:] = state.v
        if self.coordinates.reduction is None:
            q[:] = state.q
        else:
            q[:], v[:] = self.coordinates.full_position(state.q), self.coordinates.full_velocity(self.velocity)
        # With this convention crba computes the Jacobian and the placements, too, in the world frame.
        pin.crba(self.pinocchio_model, self.pinocchio_data, q, pin.Convention.WORLD)
        pin.nonLinearEffects(self.pinocchio_model, self.pinocchio_data, q, v)
        return bool(self._contact_problem.call())

    def problem(self, state: RobotState) -> ContactProblem:
        """Compute the contact problem of one state: M, bias, gaps, Jacobians and their drift, with d = 2 tangents.

        ``bias_force`` is h(q, v) − Sᵀτ, or h alone where no effort was measured. All arrays are new. The state is not
        checked for finiteness (:meth:`RobotState.fault` does that); a state with NaN gives a problem with NaN.

        Raises:
            UnusableStateError: an array of the wrong size. This is a ValueError.
        """
        self.evaluate(state)
        here, contacts = self.here, self.rows
        self.contact_positions = contacts.position.copy()
        return ContactProblem.trusted(
            mass=here.mass.copy(),
            velocity=self.velocity.copy(),
            normal_jacobian=contacts.rows[:, 0].copy(),
            tangent_jacobian=contacts.rows[:, 1:].copy(),
            friction=self.friction.copy(),
            restitution=self.restitution.copy(),
            gap=contacts.gap.copy(),
            bias_force=here.bias.copy(),
            jacobian_drift=contacts.drift.copy(),
            names=self.contact_names,
        )

    def integrate(self, q: Array, step: Array) -> Array:
        """The configuration (nq,) reached from q by the displacement ``step`` (nv,), a velocity times a time."""
        return self.coordinates.integrate(q, step)

    def difference(self, start: Array, end: Array) -> Array:
        """The displacement (nv,) that leads from one configuration (nq,) to another, inverse of :meth:`integrate`."""
        return self.coordinates.difference(start, end)

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic and potential energy, J; the latter is zero where all masses are at z = 0."""
        full_q, full_v = self.coordinates.full_position(q), self.coordinates.full_velocity(v)
        pin.computeMechanicalEnergy(self.pinocchio_model, self.pinocchio_data, full_q, full_v)
        return float(self.pinocchio_data.mechanical_energy)

    def momentum(self, state: RobotState) -> tuple[Array, Array]:
        """Generalised momentum and its rate without actuation and contact, for momentum observers.

        Returns:
            p = M v (nv,), and Ṁ v − h = Cᵀv − g (nv,), so that ṗ = (Cᵀv − g) + Sᵀτ + Jᵀλ.
        """
        self.evaluate(state)
        rate, carried = np.empty(self.nv), np.empty((len(self.tree.parent), 10))
        columns, placement, *_ = self.joints
        momentum_rate(*self.tree, *self.bodies, columns, placement, self.here.twist, carried, rate)
        return self.here.mass @ self.velocity, rate

    def joint_map(self, names: Sequence[str]) -> JointMap:
        """Prepare for messages whose joints come in this order. Joints that the model does not have are ignored.

        Raises:
            ValueError: joints of the model that are missing (listed), or a name that is given twice.
        """
        return JointMap(self.coordinates, self.floating_base, names)

    def plausibility(self, factor: float) -> Plausibility:
        """The bounds of what the joints can measure at all: ``factor`` times the limits of the URDF."""
        return Plausibility(self.pinocchio_model, self.coordinates, self._joint_types, factor)

    def frame_of(self, link: str) -> tuple[int, Array, Array] | None:
        """Pinocchio's joint that carries a link, and the link's axes (3, 3) and origin (3,), m, in the frame of that
        joint; None where there is no such link."""
        model = self.pinocchio_model
        if not model.existFrame(link, pin.FrameType.BODY):
            return None
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        return int(frame.parentJoint), frame.placement.rotation.copy(), frame.placement.translation.copy()

    def base_offset(self, link: str) -> float | None:
        """Distance (m) between the frames of a link and of the root link plus the angle between them (rad), where the
        two are bolted to each other; infinity where joints lie between them, None where there is no such link."""
        link = link.lstrip("/")
        if link == self.root_link:
            return 0.0
        frame = self.frame_of(link)
        if frame is None:
            return None
        joint, axes, origin = frame
        if joint != int(self.floating_base):
            return math.inf
        return float(np.linalg.norm(origin) + np.linalg.norm(pin.log3(axes)))
