"""The contact problem of one state, from what Pinocchio has computed of it: one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.given import members
from hybrid_contact_ros.kernels.mechanics.contact_rows import (
    JointLimits,
    RowsOut,
    Spheres,
    joint_limit_rows,
    sphere_rows,
)
from hybrid_contact_ros.kernels.mechanics.joint_motion import JointState, JointTree, joint_twists

Array = NDArray[np.float64]


class Measured(NamedTuple):
    """One measured state.

    Attributes:
        configuration: q of the tree (nq,). velocity: v of the tree (nf,). effort: Sᵀτ (nv,), zero where none was
            measured.
    """

    configuration: Array
    velocity: Array
    effort: Array


class ProblemOut(NamedTuple):
    """M, h − Sᵀτ and the spatial velocities; RowsOut has the contacts.

    Attributes:
        mass: M (nv, nv), both triangles. bias: h − Sᵀτ (nv,). twist: (n, 12), of ``joint_twists``.
    """

    mass: Array
    bias: Array
    twist: Array


_LARGEST = 1e15  # in any unit: no robot has such speeds, efforts or places


@kernel
def contact_problem(
    # tree:
    parent, first, size, lead, ratio,
    # spheres:
    joint, point, radius, normal, offset, tangent,
    # limits:
    limit_joint, limit_sign, limit_bound, limit_position, limit_velocity,
    # Pinocchio:
    columns, placement, upper, nonlinear,
    # measured:
    configuration, velocity, effort,
    # out:
    mass, bias, twist, rows, gap, drift, position,
):  # fmt: skip
    """Write everything that decides what the contacts do at one state.

    Args: the members of JointTree, Spheres, JointLimits, JointState, Measured, ProblemOut and RowsOut, which have
        shapes and units.

    Returns:
        Whether the state is finite, and not so large that forces or gaps are not.
    """
    tree = JointTree(parent, first, size, lead, ratio)
    spheres = Spheres(joint, point, radius, normal, offset, tangent)
    limits = JointLimits(limit_joint, limit_sign, limit_bound, limit_position, limit_velocity)
    contacts = RowsOut(rows, gap, drift, position)
    joint_twists(tree, columns, velocity, twist)
    _mass_and_bias(tree, JointState(columns, placement, upper, nonlinear), effort, mass, bias)
    for i in range(rows.shape[0]):
        for k in range(3):
            for c in range(rows.shape[2]):
                rows[i, k, c] = 0.0
    sphere_rows(tree, spheres, columns, placement, twist, contacts)
    joint_limit_rows(tree, joint.shape[0], limits, configuration, placement, contacts)
    return _finite(configuration) and _finite(velocity) and _finite(effort) and _finite(bias) and _finite(gap)


@kernel
def contact_problem_given(given):
    """:func:`contact_problem`, whose arguments ``given`` holds."""
    return contact_problem(*members(given))


@kernel
def _mass_and_bias(tree, here, effort, mass, bias):
    """M = Tᵀ M_tree T and h = Tᵀ h_tree − Sᵀτ, where the velocities of the tree are T times the independent ones."""
    nv = bias.shape[0]
    for i in range(nv):
        bias[i] = 0.0
        for j in range(nv):
            mass[i, j] = 0.0
    for i in range(tree.lead.shape[0]):
        a = tree.lead[i]
        bias[a] += tree.ratio[i] * here.nonlinear[i]
        for j in range(i, tree.lead.shape[0]):
            b = tree.lead[j]
            value = tree.ratio[i] * tree.ratio[j] * here.upper[j, i]
            mass[a, b] += value
            if i != j:
                mass[b, a] += value
    for i in range(nv):
        bias[i] -= effort[i]


@kernel
def _finite(values):
    """Whether all of ``values`` (n,) are finite, and no larger than anything that can be squared and added up later."""
    fit = True
    for k in range(values.shape[0]):
        fit = fit and abs(values[k]) <= _LARGEST
    return fit
