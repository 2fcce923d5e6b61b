"""Scale, bias and friction of the joints' efforts, and the inertia of their drives: the arrays of the kernel that
learns them, and what it learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import TrustConfig
from hybrid_contact_ros.kernels.estimation.effort_correction import (
    BIAS,
    CONSTANTS,
    FRICTION,
    INERTIA,
    KINDS,
    RATES,
    SCALE,
    EffortCorrection,
)
from hybrid_contact_ros.kernels.estimation.effort_errors import MOST_JOINTS, EffortErrors
from hybrid_contact_ros.kernels.estimation.error_forecasts import LEFTS, NUMBERS
from hybrid_contact_ros.kernels.estimation.error_squares import (
    LIMB_SIGMA,
    SCALE_SIGMA,
    TORQUE_SIGMA,
    TORQUE_SIGMA_ARM,
)
from hybrid_contact_ros.kernels.estimation.lasting_push import no_push

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JointErrors:
    """What is added to the measured effort τ of a joint: (scale − 1) τ + bias + friction · sign of its velocity, and
    to its diagonal element of the mass matrix.

    The numbers are those that explain the motion best together. Single ones may be off where a gait does not tell them
    apart (two legs that always carry together), and have no deviation of their own for that reason.

    Attributes:
        joint: its name. scale: true over measured effort. bias: N m (N). friction: N m (N), negative where the measured
            effort has to overcome it first. inertia: kg m² (kg), of its drive, which the URDF does not know.
    """

    joint: str
    scale: float
    bias: float
    friction: float
    inertia: float


def correction_and_errors(
    limb: NDArray[np.int64], scale: Array, config: TrustConfig, stands: bool
) -> tuple[EffortCorrection, EffortErrors]:
    """Nothing is known and nothing applied.

    Args:
        limb, scale: of :class:`~hybrid_contact_ros.kernels.estimation.effort_trust.TrustTable`.
        stands: whether the robot stands on its contacts, and is no arm.
    """
    nv = limb.size
    joint = np.flatnonzero((limb >= 0) & (scale > 0.0)).astype(np.int64)
    if not config.correct or config.bandwidth <= 0.0 or joint.size > MOST_JOINTS:
        joint = joint[:0]
    n = joint.size
    k = KINDS * n + 1 if n else 0
    sigma = TORQUE_SIGMA if stands else TORQUE_SIGMA_ARM
    correction = EffortCorrection(
        active=np.zeros(1, np.uint8),
        applied=np.zeros((KINDS, nv)),
        added=np.zeros(nv),
        drives=np.zeros(nv),
        unsure=np.zeros(nv),
        late=np.zeros(nv),
        slow=np.zeros(nv),
        effort_rate=np.zeros((RATES, nv)),
    )
    errors = EffortErrors(
        joint=joint,
        unit=np.array([sigma / np.median(scale[joint]) if n else 0.0]),
        prior=_scale_prior(limb[joint]),
        numbers=np.zeros(NUMBERS),
        sign=np.zeros((3, nv)),
        swift=np.zeros((3, nv)),
        last=np.zeros((2, nv)),
        left=np.zeros((LEFTS, nv)),
        normal=np.zeros((k, k)),
        cross=np.zeros(k),
        estimate=np.zeros(k),
        factor=np.zeros((k, k)),
        row=np.zeros(k),
        work=np.zeros(nv),
        share=np.zeros((n, n)),
        push=no_push(2),
        refuted=np.zeros(int(limb.max(initial=-1)) + 1, np.uint8),
    )
    return correction, errors


def _scale_prior(limb: NDArray[np.int64]) -> Array:
    """The inverse covariance of the scales of joints of these limbs (n,), in deviations of a single one.

    Each joint has a scale of its own. Those of a limb have one in common besides, of which the mean over all limbs is
    none: what is wrong of all limbs alike is a payload, or friction, as likely as a scale.
    """
    _, member = np.unique(limb, return_inverse=True)
    limbs = int(member.max(initial=-1)) + 1
    between = (LIMB_SIGMA / SCALE_SIGMA) ** 2 * (np.eye(limbs) - 1.0 / max(limbs, 1))
    return np.asarray(np.linalg.inv(np.eye(limb.size) + between[np.ix_(member, member)]))


def joint_errors(names: Sequence[str], correction: EffortCorrection, errors: EffortErrors) -> tuple[JointErrors, ...]:
    """Of the joints of all limbs while they are applied; none before.

    Args:
        names: of all coordinates.
    """
    if not correction.active[0] & CONSTANTS:
        return ()
    applied = correction.applied
    return tuple(
        JointErrors(
            joint=names[k],
            scale=1.0 + float(applied[SCALE, k]),
            bias=float(applied[BIAS, k]),
            friction=float(applied[FRICTION, k]),
            inertia=float(applied[INERTIA, k]),
        )
        for k in errors.joint.tolist()
    )
