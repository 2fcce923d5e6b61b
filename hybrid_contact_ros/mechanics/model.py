"""A robot from its URDF: the contact problem of any of its states, in one call."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.kernels.mechanics.contact_rows import contact_rows, joint_limit_rows, symmetric_copy
from hybrid_contact_ros.mechanics.contact_points import contact_table
from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.inertia import check_inertia
from hybrid_contact_ros.mechanics.joints import JointMap
from hybrid_contact_ros.mechanics.plausibility import Plausibility
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.mechanics.urdf import Urdf, read_urdf

Array = NDArray[np.float64]


class RigidBodyModel:
    """A tree of rigid bodies with contacts, on Pinocchio.

    Coordinates are Pinocchio's (:class:`RobotState`), except that a joint that mimics another has none of its own.
    Gravity is 9.81 m/s² along −z. Contacts are spheres on links (radius 0: points) against fixed planes, then joint
    limits; their names, planes and coefficients come from the configuration.

    :meth:`problem` uses scratch memory of the model: call it from one thread at a time.

    Attributes:
        nq, nv: sizes of q and v. floating_base: whether v starts with the root link's velocity.
        root_link: the link that odometry is about, with a floating base.
        contacts: m. contact_names, contact_frames: of each; frame is the URDF link.
        velocity_names: (nv) ``<root>_linear_x`` … ``<root>_angular_z`` for a floating base, then joint names.
        joint_names: joints with coordinates, in the model's order. mimic_names: those that follow another.
        friction, restitution: (m,). hash: uint64 over the URDF's text and the configuration of its contacts.
        contact_normals (m, 3), contact_tangents (m, 2, 3): world frame; zero for joint limits. Never written.
        contact_positions: (m, 3) m, world frame, of the last state given to :meth:`problem`: the point of each sphere
            nearest to its plane, or the origin of the joint, for a limit.
        pinocchio_model, pinocchio_data: where mimic joints still have coordinates of their own (see
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
        self.joint_names = self.coordinates.joints
        self.mimic_names = self.coordinates.followers
        base = tuple(f"{urdf.root}_{kind}_{axis}" for kind in ("linear", "angular") for axis in "xyz")
        self.velocity_names = (base if config.floating_base else ()) + self.joint_names
        self.contact_names = self._table.names
        self.contact_frames = self._table.frames
        self.contacts = len(self.contact_names)
        self.friction, self.restitution = self._table.friction, self._table.restitution
        self.contact_normals, self.contact_tangents = self._table.normal, self._table.tangent
        self.contact_positions = np.zeros((self.contacts, 3))
        self.hash = _hash(urdf, config)
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
        """Lay out the tables and views that problem() hands to the kernels."""
        model, data, table = self.pinocchio_model, self.pinocchio_data, self._table
        self._parent = np.array(list(model.parents), dtype=np.int64)
        self._first = np.array([0, *(joint.idx_v for joint in list(model.joints)[1:])], dtype=np.int64)
        self._size = np.array([0, *(joint.nv for joint in list(model.joints)[1:])], dtype=np.int64)
        # Pinocchio's Python arrays are views on its data: taken once here, they follow every later computation.
        # It hands out matrices of one column as vectors.
        self._columns, self._upper = data.J.T.reshape(model.nv, 6), data.M.T.reshape(model.nv, model.nv)
        self._nonlinear = data.nle
        k = len(table.joint)
        self._spheres = k
        self._normal, self._tangent = table.normal[:k].copy(), table.tangent[:k].copy()
        self._rotation, self._translation = np.zeros((k, 3, 3)), np.zeros((k, 3))
        placements = [data.oMi[int(j)] for j in table.joint]
        self._placements = [
            (self._rotation[i], p.rotation, self._translation[i], p.translation) for i, p in enumerate(placements)
        ]
        self._limit_origins = [data.oMi[int(j)].translation for j in table.limit_joint]
        self._velocity = np.zeros(model.nv)
        self._configuration = np.zeros(model.nq)
        self._twist = np.zeros((model.njoints, 12))
        self._compile()
        shared = ((self._columns, data.J), (self._upper, data.M), (self._nonlinear, data.nle))
        if not all(np.shares_memory(view, array) for view, array in shared):
            raise RuntimeError("Pinocchio's arrays are copies in this build; this suite needs a build that shares them")

    def _compile(self) -> None:
        """Compile or load all three kernels, whether this robot needs them or not: a node forbids it afterwards."""
        table = self._table
        m, nv = self.contacts, self.pinocchio_model.nv
        joint_limit_rows(
            self._spheres,
            table.limit_sign,
            table.limit_bound,
            table.limit_position,
            table.limit_velocity,
            self._configuration,
            np.empty(m),
            np.empty((m, nv)),
        )
        self.problem(RobotState(0, self.neutral(), np.zeros(self.nv)))

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero and the base at the origin."""
        full = pin.neutral(self.pinocchio_model)
        return self.coordinates.reduced_position(full)

    def bent(self) -> Array:
        """A configuration (nq,) near the neutral one in which no joint is straight: up to 0.2 rad (m) from there."""
        step = np.zeros(self.nv)
        first = 6 if self.floating_base else 0
        step[first:] = np.random.default_rng(0).uniform(-0.2, 0.2, self.nv - first)
        return self.integrate(self.neutral(), step)

    def problem(self, state: RobotState) -> ContactProblem:
        """The contact problem of one state: M, bias, gaps, Jacobians and their drift, d = 2 tangents, fresh arrays.

        ``bias_force`` is h(q, v) − effort, or h alone where no effort was measured. The state is not checked for
        finiteness (:meth:`RobotState.fault` is for that); a state with NaN gives a problem with NaN.

        Raises:
            ValueError: an array of the wrong size.
        """
        model, data, table = self.pinocchio_model, self.pinocchio_data, self._table
        reduction = self.coordinates.reduction
        if state.q.shape != (self.nq,) or state.v.shape != (self.nv,):
            raise ValueError(state.fault(self.nq, self.nv))
        q, v = self._configuration, self._velocity
        if reduction is None:
            q[:], v[:] = state.q, state.v
        else:
            q[:], v[:] = self.coordinates.full_position(state.q), reduction @ state.v
        pin.crba(model, data, q, pin.Convention.WORLD)  # M, and with this convention J and oMi in the world frame
        pin.nonLinearEffects(model, data, q, v)
        for rotation, measured, translation, origin in self._placements:
            rotation[:], translation[:] = measured, origin

        m, nv = self.contacts, model.nv
        mass, normal, tangent = np.empty((nv, nv)), np.empty((m, nv)), np.empty((m, 2, nv))
        gap, drift, position = np.empty(m), np.empty((m, 3)), np.empty((m, 3))
        symmetric_copy(self._upper, mass)
        contact_rows(
            self._parent,
            self._first,
            self._size,
            table.joint,
            table.point,
            table.radius,
            self._normal,
            table.offset,
            self._tangent,
            self._columns,
            self._rotation,
            self._translation,
            v,
            self._twist,
            position,
            gap,
            normal,
            tangent,
            drift,
        )
        if m > self._spheres:
            joint_limit_rows(
                self._spheres,
                table.limit_sign,
                table.limit_bound,
                table.limit_position,
                table.limit_velocity,
                q,
                gap,
                normal,
            )
            position[self._spheres :] = self._limit_origins
        bias = self._nonlinear.copy()
        if reduction is not None:
            mass = reduction.T @ mass @ reduction
            mass = 0.5 * (mass + mass.T)
            bias, normal, tangent = reduction.T @ bias, normal @ reduction, tangent @ reduction
        if state.effort is not None:
            if state.effort.shape != (self.nv,):
                raise ValueError(state.fault(self.nq, self.nv))
            bias -= state.effort
        self.contact_positions = position
        return ContactProblem.trusted(
            mass,
            state.v.copy(),
            normal,
            tangent,
            self.friction.copy(),
            self.restitution.copy(),
            gap,
            bias,
            drift,
            self.contact_names,
        )

    def integrate(self, q: Array, step: Array) -> Array:
        """The configuration (nq,) reached from q by the displacement ``step`` (nv,), a velocity times a time."""
        return self.coordinates.integrate(q, step)

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
        model, data, coordinates = self.pinocchio_model, self.pinocchio_data, self.coordinates
        q, v = coordinates.full_position(state.q), coordinates.full_velocity(state.v)
        square = (model.nv, model.nv)
        momentum = pin.crba(model, data, q).reshape(square) @ v
        coriolis = pin.computeCoriolisMatrix(model, data, q, v).reshape(square)
        rate = coriolis.T @ v - pin.computeGeneralizedGravity(model, data, q)
        if coordinates.reduction is not None:
            return coordinates.reduction.T @ momentum, coordinates.reduction.T @ rate
        return momentum, rate

    def joint_map(self, names: Sequence[str]) -> JointMap:
        """Prepare for messages whose joints come in this order. Joints that the model does not have are ignored.

        Raises:
            ValueError: joints of the model that are missing (listed), or a name that is given twice.
        """
        return JointMap(self.coordinates, self.floating_base, names)

    def plausibility(self, factor: float) -> Plausibility:
        """What the joints can measure at all: the URDF's limits, ``factor`` times; see there."""
        return Plausibility(self.pinocchio_model, self.coordinates, self._joint_types, factor)

    def base_offset(self, link: str) -> float | None:
        """Distance (m) of a link's frame from the root link's, plus the angle between them (rad), where the two are
        bolted to each other; infinity where joints lie between, None where there is no such link."""
        link = link.lstrip("/")
        if link == self.root_link:
            return 0.0
        model = self.pinocchio_model
        if not model.existFrame(link, pin.FrameType.BODY):
            return None
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        if int(frame.parentJoint) != int(self.floating_base):
            return math.inf
        return float(np.linalg.norm(frame.placement.translation) + np.linalg.norm(pin.log3(frame.placement.rotation)))


def _hash(urdf: Urdf, config: EstimatorConfig) -> int:
    """First 8 bytes of the SHA-256 of the URDF's text and of everything that shapes its contacts, in order."""
    contacts = {
        "floating_base": config.floating_base,
        "contacts": [(name, asdict(contact)) for name, contact in config.contacts.items()],
        "environments": [(name, asdict(plane)) for name, plane in config.environments.items()],
        "joint_limits": list(config.joint_limits),
    }
    digest = hashlib.sha256(urdf.text.encode("utf-8"))
    digest.update(b"\0" + json.dumps(contacts, sort_keys=True).encode("utf-8"))
    return int.from_bytes(digest.digest()[:8], "big")
