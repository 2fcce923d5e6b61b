"""The limbs whose efforts are checked, the memory of the check, and what it has learned, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import TrustConfig
from hybrid_contact_ros.estimation.effort_errors import JointErrors, correction_and_errors, joint_errors
from hybrid_contact_ros.estimation.support import shared_weight, stands, weight
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.effort_noise import BEFORE, EffortNoise
from hybrid_contact_ros.kernels.estimation.effort_trust import TrustMemory, TrustScratch, TrustTable
from hybrid_contact_ros.kernels.estimation.hanging import HOVERED, hang_memory
from hybrid_contact_ros.kernels.estimation.rate_noise import KEPT, RateNoise
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

__all__ = ["BELIEVED", "EffortTrust", "LimbEfforts", "LimbWeight", "limbs_sentence"]

_BASE, _NONE = -1, -2  # in ``TrustTable.limb``
_POSTURES, _REACH = 9, 0.6  # up to so far (rad, m) from the neutral one, over which the levers of joints are averaged
_LEAST_SEEN = 1.0  # s of motion before scales and biases are told
_TURNED = 0.4  # the scale of efforts with the other sign is -1, and no further off
_TREMBLES = 0.5  # rad/s² (m/s²), by which accelerations that are observed err: 0.01 rad/s by 50 1/s
_WIDEST = 0.25  # standard deviation of a scale above which it is not identified


@dataclass(frozen=True, slots=True)
class LimbWeight:
    """How far the efforts of one limb are believed.

    Attributes:
        name: links of its contacts. weight: from 1 (trusted) to 0 (ignored).
        turned: whether they would explain it with the other sign.
    """

    name: str
    weight: float
    turned: bool = False

    @property
    def sentence(self) -> str:
        """For diagnostics."""
        return limbs_sentence([self])


def limbs_sentence(limbs: Sequence[LimbWeight]) -> str:
    """Of limbs whose efforts are not believed for one reason."""
    names = [limb.name for limb in limbs]
    all_names = ", ".join(names[:-1]) + " and " + names[-1] if names[1:] else names[0]
    of_limbs, motion = ("limbs", "their motion") if names[1:] else ("limb", "its motion")
    why = ", and would with the other sign" if limbs[0].turned else ""
    weight = max(limb.weight for limb in limbs)
    return f"the efforts of the {of_limbs} of {all_names} do not explain {motion}{why}: weight {weight:.1f}"


@dataclass(frozen=True, slots=True)
class LimbEfforts:
    """What is known of the efforts of one limb.

    Attributes:
        name, weight: as of :class:`LimbWeight`. contacts: indices. joints: names.
        unexplained: what the efforts leave of the motion, over what would be left without them: 0 for perfect efforts,
            1 for useless ones.
        scale, scale_sigma: of true over measured efforts, and its standard deviation; NaN and inf where the motion does
            not tell.
        bias, bias_sigma: (joints,) N m (N), true less measured effort; NaN and inf likewise.
    """

    name: str
    contacts: tuple[int, ...]
    joints: tuple[str, ...]
    weight: float
    unexplained: float
    scale: float
    scale_sigma: float
    bias: Array
    bias_sigma: Array


class EffortTrust:
    """The check of one robot: arrays for the kernel, and reports of what they hold.

    Attributes:
        table, memory, scratch: of :func:`~hybrid_contact_ros.kernels.estimation.effort_trust.check_efforts`.
        correction, errors: of :mod:`~hybrid_contact_ros.kernels.estimation.effort_errors`. hang: of
            :mod:`~hybrid_contact_ros.kernels.estimation.hanging`.
        limbs: name, contacts (indices) and coordinates (indices) of each limb.
    """

    def __init__(self, model: RigidBodyModel, config: TrustConfig) -> None:
        m, nv = model.contacts, model.nv
        base = 6 if model.floating_base else 0
        self._model, self._config = model, config
        supports = [_support(model, i, base) for i in range(m)]
        groups = _connected([s for s in supports if s])
        is_limit = np.array([not normal.any() for normal in model.contact_normals], dtype=np.uint8)
        limb, of_contact = np.full(nv, _NONE), np.full(m, -1)
        limb[:base] = _BASE
        for k, group in enumerate(groups):
            limb[sorted(group)] = k
        for i, support in enumerate(supports):
            if support:
                of_contact[i] = limb[min(support)]
        names = [
            tuple(dict.fromkeys(model.contact_frames[i] for i in np.flatnonzero(of_contact == k)))
            for k in range(len(groups))
        ]
        self.limbs = tuple(
            (" and ".join(name), tuple(np.flatnonzero(of_contact == k).tolist()), np.flatnonzero(limb == k))
            for k, name in enumerate(names)
        )
        whole = weight(model)
        scale = _levers(model, is_limit)
        scale[limb == _NONE] = 0.0
        scale[scale > 0.0] = 1.0 / (whole * scale[scale > 0.0])
        presses = min(shared_weight(model) / whole, 1.0) if whole > 0.0 else 1.0
        floor = float(config.floor) / max(1, len(groups)) * presses
        self.table = TrustTable(
            bandwidth=float(config.bandwidth if groups else 0.0),
            recall=float(config.memory),
            floor=float(config.floor),
            full=float(min(config.full, 0.999 * config.none)),
            none=float(config.none),
            share=1.0 / max(1, len(groups)),
            unit=1.0 / whole if whole > 0.0 else 0.0,
            contact_limb=of_contact.astype(np.int64),
            limb=limb.astype(np.int64),
            scale=scale,
            is_limit=is_limit,
            fixed=not model.floating_base,
            presses=presses,
            doubt=np.divide(floor / _TREMBLES, scale, out=np.zeros(nv), where=(scale > 0.0) & (presses < 1.0)),
        )
        self.noise = RateNoise(
            noise_rates=np.zeros((KEPT, m)), noise_times=np.zeros(KEPT), noise_count=np.zeros(2, np.int64),
            noise_sigma=np.zeros(m),
        )  # fmt: skip
        self.jitter = EffortNoise(
            jitter_efforts=np.zeros((BEFORE, nv)), jitter_ages=np.zeros(BEFORE), jitter_count=np.zeros(1, np.int64),
            jitter_sigma=np.zeros(nv),
        )  # fmt: skip
        self.correction, self.errors = correction_and_errors(limb, scale, config, stands(model))
        self.hang = hang_memory(m, nv, len(groups))
        self.memory, self.scratch = _memory(m, nv, len(groups)), _scratch(m, nv, len(groups))
        self.reset()

    def reset(self) -> None:
        """Forget all states, and trust every limb."""
        for array in self.memory:
            array.fill(0.0)
        forgotten: tuple[NDArray[Any], ...] = (*self.correction, *self.errors[3:], *self.hang)  # the first three stay
        for each in forgotten:
            each.fill(0)
        self.noise.noise_count.fill(0)
        self.noise.noise_sigma.fill(0.0)
        self.jitter.jitter_count.fill(0)
        self.jitter.jitter_sigma.fill(0.0)
        self.memory.weight.fill(1.0)
        self.memory.force_weight.fill(1.0)
        self.pause()

    def pause(self) -> None:
        """Start the filters anew; the weights stay."""
        self.memory.begun[:3] = -1.0

    def weights(self) -> tuple[LimbWeight, ...]:
        """Of each limb, by name."""
        weights, turned = self._weights(), [False] * len(self.limbs)
        if min(weights, default=1.0) < BELIEVED and float(self.memory.time[1]) >= _LEAST_SEEN:
            turned = (np.abs(self._best_scales()[0] + 1.0) <= _TURNED).tolist()
        return tuple(
            LimbWeight(limb[0], w, w < BELIEVED and t) for limb, w, t in zip(self.limbs, weights, turned, strict=True)
        )

    @property
    def hanging(self) -> tuple[str, ...]:
        """The limbs that do not press although the robot is held up: it hangs, by its efforts or by its motion."""
        limb = self.table.contact_limb
        limbs = np.unique(limb[(self.hang.idle != 0) & (self.hang.idle != HOVERED) & (limb >= 0)])
        return tuple(self.limbs[k][0] for k in limbs.tolist())

    def joint_errors(self) -> tuple[JointErrors, ...]:
        """What is known of each joint's scale, bias and friction, and whether the efforts are corrected with it."""
        return joint_errors(self._model.velocity_names, self.correction, self.errors)

    def report(self) -> tuple[LimbEfforts, ...]:
        """What has been learned up to now. Not for every state: it solves a least-squares problem."""
        memory, table, weights = self.memory, self.table, self._weights()
        scales, sigmas, noise = self._scales()
        found = []
        for k, (name, contacts, coordinates) in enumerate(self.limbs):
            energy = memory.energy[k]
            base = 6 if self._model.floating_base else 0
            bias, spread = self._biases(coordinates, noise)
            found.append(
                LimbEfforts(
                    name=name,
                    contacts=contacts,
                    joints=tuple(self._model.joint_names[j - base] for j in coordinates),
                    weight=weights[k],
                    unexplained=float(np.sqrt(energy[0] / energy[1])) if energy[1] > 0.0 else 0.0,
                    scale=float(scales[k]),
                    scale_sigma=float(sigmas[k]),
                    bias=bias / np.where(table.scale[coordinates] > 0.0, table.scale[coordinates], np.inf),
                    bias_sigma=spread / np.where(table.scale[coordinates] > 0.0, table.scale[coordinates], np.inf),
                )
            )
        return tuple(found)

    def _weights(self) -> list[float]:
        """Of each limb, as of :func:`~hybrid_contact_ros.kernels.estimation.effort_trust.limb_weight`."""
        return [float(x) for x in np.where(self.errors.refuted != 0, 0.0, self.memory.weight)]

    def _scales(self) -> tuple[Array, Array, float]:
        """Scales of the limbs, their standard deviations, and the variance of what is left in weights squared."""
        memory, limbs = self.memory, len(self.limbs)
        none = np.full(limbs, np.nan), np.full(limbs, np.inf), 0.0
        seconds = float(memory.time[1])
        if limbs == 0 or seconds < _LEAST_SEEN:
            return none
        left = float(memory.energy[:, 0].sum() / max(memory.time[0], 1e-9))
        # What is left keeps its sign for about two time constants of the filters.
        noise = (left + (self.table.floor * self.table.share) ** 2) * 2.0 / self.table.bandwidth
        scales, inverse = self._best_scales()
        sigma = np.sqrt(noise * np.diag(inverse))
        known = sigma <= _WIDEST
        return np.where(known, scales, np.nan), np.where(known, sigma, np.inf), noise

    def _best_scales(self) -> tuple[Array, Array]:
        """The scales of the limbs that explain the motion best, and the inverse of their normal matrix."""
        normal = self.memory.normal
        H = normal + 1e-12 * np.eye(len(normal)) * max(float(np.trace(normal)), 1e-300)
        return 1.0 + np.asarray(np.linalg.solve(H, self.memory.cross)), np.asarray(np.linalg.inv(H))

    def _biases(self, coordinates: NDArray[np.intp], noise: float) -> tuple[Array, Array]:
        total, share = self.memory.bias[0, coordinates], self.memory.bias[1, coordinates]
        known = (share > 0.05 * max(float(self.memory.time[1]), 1e-9)) & (self.memory.time[1] >= _LEAST_SEEN)
        safe = np.where(known, share, 1.0)
        return np.where(known, total / safe, np.nan), np.where(known, np.sqrt(noise / safe), np.inf)


def _support(model: RigidBodyModel, contact: int, base: int) -> set[int]:
    """Coordinates of the joints between the base and a contact."""
    full, frame = model.pinocchio_model, model.contact_frames[contact]
    joint = int(full.frames[full.getFrameId(frame, pin.FrameType.BODY)].parentJoint)
    found = set()
    while joint > 0:
        first, size = int(model.tree.first[joint]), int(model.tree.size[joint])
        found |= {int(model.tree.lead[k]) for k in range(first, first + size)}
        joint = int(model.tree.parent[joint])
    return {k for k in found if k >= base}


def _connected(sets: list[set[int]]) -> list[set[int]]:
    """Unions of the sets that share members, in the order of the first of each."""
    groups: list[set[int]] = []
    for one in sets:
        same = [g for g in groups if g & one]
        merged = set(one).union(*same)
        place = groups.index(same[0]) if same else len(groups)
        groups = [g for g in groups if g not in same]
        groups.insert(place, merged)
    return groups


def _levers(model: RigidBodyModel, is_limit: NDArray[np.uint8]) -> Array:
    """(nv,), how far contacts move with each coordinate: root mean square over those that it moves, and postures."""
    squares, counts = np.zeros(model.nv), np.zeros(model.nv)
    for angle in np.linspace(-_REACH, _REACH, _POSTURES):  # of all joints: no order of theirs matters
        step = np.where(model.driven, angle, 0.0)
        model.evaluate(RobotState(0, model.integrate(model.neutral(), step), np.zeros(model.nv)))
        moves = np.square(model.rows.rows[is_limit == 0]).sum(axis=1)
        squares += moves.sum(axis=0)
        counts += (moves > 0.0).sum(axis=0)
    levers = np.sqrt(squares / np.maximum(counts, 1.0))
    levers[levers < 1e-6 * max(float(levers.max(initial=0.0)), 1e-300)] = 0.0
    return np.asarray(levers)


def _memory(m: int, nv: int, limbs: int) -> TrustMemory:
    return TrustMemory(
        begun=np.zeros(5),
        last=np.zeros((3, nv)),
        first=np.zeros((2, nv)),
        second=np.zeros((2, nv)),
        unexplained=np.zeros((2, nv)),
        rough=np.zeros(nv),
        swing=np.zeros(m),
        energy=np.zeros((limbs, 3)),
        time=np.zeros(2),
        normal=np.zeros((limbs, limbs)),
        cross=np.zeros(limbs),
        bias=np.zeros((2, nv)),
        weight=np.ones(limbs),
        force_weight=np.ones(m),
    )


def _scratch(m: int, nv: int, limbs: int) -> TrustScratch:
    n = 3 * m
    return TrustScratch(
        basis=np.zeros((n, nv)),
        triangle=np.zeros((n, n)),
        part=np.zeros(n),
        kept=np.zeros(n, dtype=np.int64),
        step=np.zeros(nv),
        left=np.zeros((1 + limbs, nv)),
        root=np.zeros(nv),
        load=np.zeros(limbs),
    )
