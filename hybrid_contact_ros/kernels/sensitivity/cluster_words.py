"""All words of a cluster of touchdowns, with their maps: the tree of ``sensitivity/word_tree.py``, compiled."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import EventValidity, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.mechanics.contact_gradient import GradientSpheres
from hybrid_contact_ros.kernels.mechanics.joint_motion import BodyInertia, JointTree
from hybrid_contact_ros.kernels.modes.records import StateOut, StateScratch
from hybrid_contact_ros.kernels.sensitivity.branching import next_cone, next_touchdowns
from hybrid_contact_ros.kernels.sensitivity.cones import whole_space
from hybrid_contact_ros.kernels.sensitivity.elimination import eliminate
from hybrid_contact_ros.kernels.sensitivity.level_motion import contact_velocities, level_motion
from hybrid_contact_ros.kernels.sensitivity.local_model import free_motion, prepare
from hybrid_contact_ros.kernels.sensitivity.records import (
    ClusterProblem,
    ClusterSettings,
    ImpactScratch,
    Levels,
    LocalModel,
    WordsOut,
)
from hybrid_contact_ros.kernels.sensitivity.rigid_body import rate_gradient
from hybrid_contact_ros.kernels.sensitivity.word_impact import resolve
from hybrid_contact_ros.kernels.sensitivity.word_maps import carry, shift, start_map, write_map
from hybrid_contact_ros.kernels.sensitivity.word_rank import rank_of
from hybrid_contact_ros.kernels.stability.chain_records import ChainProblem, ChainScratch

_SOLVED = int(Status.SOLVED)
_VALID, _CUT, _SINGULAR = int(EventValidity.VALID), int(EventValidity.CUT), int(EventValidity.SINGULAR)
_NOT_UNIQUE, _NOT_TOUCHING = int(EventValidity.NOT_UNIQUE), int(EventValidity.NOT_TOUCHING)
_RESTS = 1e-6  # of the fastest contact velocity: a contact that is slower along its normal rests
_TENTH = 0.2  # times speed over acceleration: the time in which forces change a gap by a tenth of what speed does


@kernel
def cluster_words(
    # settings:
    steps, tolerance, mode_tolerance,
    # tree:
    parent, first, size, lead, ratio,
    # bodies:
    inertia, gravity,
    # spheres:
    joint, point, radius, normal, tangent,
    # problem:
    columns, placement, mass, rows, velocity, effort, friction, restitution, which, closed, place, slope,
    gap_mean, gap_covariance, chance,
    # local:
    near_factor, near_inverse, near_J, near_A, near_G, near_turn, near_rate, near_bend, near_friction,
    near_restitution, near_body, near_carried, near_momentum, near_full, near_twist, near_force, near_swept,
    near_pulled, near_unit, near_gradient, near_bias, near_free,
    # levels:
    at_velocity, at_contact, at_acceleration, at_pull, at_on, at_plays, at_gap, at_time, at_due, at_group,
    at_next, at_struck, at_rests, at_rows, at_cone, at_corners, at_size, at_change, at_lift, at_tau, at_rate,
    # impact:
    hit_scope, hit_kind, hit_bounces, hit_holds, hit_acting, hit_tableau, hit_order, hit_impulse, hit_total,
    hit_given, hit_after, hit_slip, hit_first, hit_second, hit_by_friction, hit_by_restitution, hit_slope,
    hit_slope2, hit_reach, hit_reach2, hit_push, hit_turned, hit_vector, hit_sliding, hit_small, hit_echelon,
    # chain:
    chain_A, chain_work, chain_order, chain_met, chain_scope, chain_moving, chain_slip, chain_state,
    chain_solved, chain_after, chain_push, chain_pressed, chain_stopped, chain_start, chain_smooth,
    # state scratch:
    mode_A, mode_work, mode_order, mode_intended, mode_other_slip, mode_found, mode_other_forces,
    # state:
    found_critical, found_jammed, found_moving, found_slip, found_state, found_forces, found_accelerations,
    found_acceleration, found_status,
    # out:
    out_impacts, out_struck, out_rests, out_validity, out_cone_rows, out_cones, out_last_time, out_velocity,
    out_acceleration, out_matrix, out_columns, out_rank, out_corners, out_size,
):  # fmt: skip
    """Follow every sequence of impacts that states near the corner can take, with the affine map of each.

    Args:
        steps … mode_tolerance: ClusterSettings. parent … ratio: JointTree. inertia, gravity: BodyInertia.
        joint … tangent: GradientSpheres. columns … chance: ClusterProblem; ``velocity`` is overwritten by v⁻.
        near_…, at_…, hit_…, chain_…, mode_…, found_…, out_…: LocalModel, Levels, ImpactScratch, ChainScratch,
            StateScratch, StateOut, WordsOut.

    Returns:
        (validity, words, spread): VALID; CUT where there are more words than ``out`` has rows, with so many of them;
        NOT_TOUCHING where a contact of the cluster does not approach; SINGULAR. The spread is that of TouchdownWords.
    """
    settings = ClusterSettings(steps, tolerance, mode_tolerance)
    robot = JointTree(parent, first, size, lead, ratio)
    bodies = BodyInertia(inertia, gravity)
    spheres = GradientSpheres(joint, point, radius, normal, tangent)
    problem = ClusterProblem(
        columns, placement, mass, rows, velocity, effort, friction, restitution, which, closed, place, slope,
        gap_mean, gap_covariance, chance,
    )  # fmt: skip
    near = LocalModel(
        near_factor, near_inverse, near_J, near_A, near_G, near_turn, near_rate, near_bend, near_friction,
        near_restitution, near_body, near_carried, near_momentum, near_full, near_twist, near_force,
        near_swept, near_pulled, near_unit, near_gradient, near_bias, near_free,
    )  # fmt: skip
    branch = Levels(
        at_velocity, at_contact, at_acceleration, at_pull, at_on, at_plays, at_gap, at_time, at_due, at_group,
        at_next, at_struck, at_rests, at_rows, at_cone, at_corners, at_size, at_change, at_lift, at_tau,
        at_rate,
    )  # fmt: skip
    scratch = ImpactScratch(
        hit_scope, hit_kind, hit_bounces, hit_holds, hit_acting, hit_tableau, hit_order, hit_impulse,
        hit_total, hit_given, hit_after, hit_slip, hit_first, hit_second, hit_by_friction, hit_by_restitution,
        hit_slope, hit_slope2, hit_reach, hit_reach2, hit_push, hit_turned, hit_vector,
        hit_sliding, hit_small, hit_echelon,
    )  # fmt: skip
    memory = ChainScratch(
        chain_A, chain_work, chain_order, chain_met, chain_scope, chain_moving, chain_slip, chain_state,
        chain_solved, chain_after, chain_push, chain_pressed, chain_stopped, chain_start, chain_smooth,
    )  # fmt: skip
    modes = StateScratch(
        mode_A, mode_work, mode_order, mode_intended, mode_other_slip, mode_found, mode_other_forces,
    )  # fmt: skip
    found = StateOut(
        found_critical, found_jammed, found_moving, found_slip, found_state, found_forces,
        found_accelerations, found_acceleration, found_status,
    )  # fmt: skip
    out = WordsOut(
        out_impacts, out_struck, out_rests, out_validity, out_cone_rows, out_cones, out_last_time,
        out_velocity, out_acceleration, out_matrix, out_columns, out_rank, out_corners, out_size,
    )  # fmt: skip
    if prepare(robot, bodies, spheres, problem, near) != _SOLVED:
        return _SINGULAR, 0, math.inf
    resting = _start(robot, gravity, spheres, problem, near, branch, scratch)
    for j in range(slope.shape[0]):
        if not slope[j] > resting:
            return _NOT_TOUCHING, 0, math.inf
    task = ChainProblem(2, 1, steps, tolerance, near.G, near.free, near.friction, near.restitution)
    words, level, spread = 0, 0, math.inf
    for i in range(closed.shape[0]):
        scratch.scope[i] = closed[i]
    if not level_motion(0, resting, settings, robot, gravity, spheres, problem, near, modes, found, branch, scratch):
        return _NOT_UNIQUE, 0, spread
    for i in range(closed.shape[0]):
        branch.plays[0, i] = not branch.on[0, i]
    next_touchdowns(0, resting, branch)
    while level >= 0:
        if not next_cone(level, problem, branch):
            level -= 1
            continue
        if words == out.impacts.shape[0]:
            return _CUT, words, spread
        code, sooner = _impact(
            level, resting, settings, robot, gravity, spheres, problem, near, task, memory, modes, found, branch,
            scratch,
        )  # fmt: skip
        spread = min(spread, sooner)
        due = False
        if code == _VALID:
            due = next_touchdowns(level + 1, resting, branch)
            if due and level + 1 == out.struck.shape[1]:
                code = _CUT
        if due and code == _VALID:
            level += 1
        else:
            _write_word(level + 1, code, problem, branch, scratch, out, words)
            words += 1
    return _VALID, words, spread


@kernel
def _start(robot, gravity, spheres, problem, local, levels, impact):
    """Write the state at the corner into level 0, without what moves closed contacts; returns the speed of rest."""
    v = problem.velocity
    nv, c = v.shape[0], problem.which.shape[0]
    size, tableau, index = 0, impact.tableau, impact.acting
    for i in range(c):
        if problem.closed[i]:
            index[size] = 3 * i
            size += 1
    for a in range(size):
        for b in range(size):
            tableau[a, b] = local.G[index[a], index[b]]
        tableau[a, size] = 0.0
        for k in range(nv):
            tableau[a, size] += local.J[index[a], k] * v[k]
    eliminate(size, 1, tableau, impact.order)
    for a in range(size):
        for k in range(nv):
            v[k] -= local.A[index[a], k] * tableau[a, size]
    fastest = 0.0
    for i in range(problem.rows.shape[0]):
        for d in range(3):
            speed = 0.0
            for k in range(nv):
                speed += problem.rows[i, d, k] * v[k]
            fastest = max(fastest, abs(speed))
    for k in range(nv):
        levels.velocity[0, k] = v[k]
    contact_velocities(0, local, levels)
    free_motion(robot, gravity, spheres, v, problem, local, levels.acceleration[0], local.free)
    rate_gradient(robot, spheres, problem.which, problem.columns, problem.placement, local.twist, impact.slope)
    start_map(local, levels, impact.slope)
    for i in range(c):
        for j in range(problem.slope.shape[0]):
            levels.gap[0, i, j] = 1.0 if problem.place[i] == j else 0.0
        if problem.place[i] >= 0:
            problem.slope[problem.place[i]] = -levels.contact[0, 3 * i]
    for j in range(problem.slope.shape[0]):
        levels.time[0, j] = 0.0
    levels.rows[0] = 0
    whole_space(levels.corners[0], levels.size[0])
    return _RESTS * fastest


@kernel
def _impact(
    level, resting, settings, robot, gravity, spheres, problem, local, task, memory, modes, found, levels, impact
):  # fmt: skip
    """Make the impact of ``levels.struck[level]``, and write the next level; returns (validity, its spread)."""
    c, k = levels.gap.shape[1], levels.gap.shape[2]
    nv, above = levels.velocity.shape[1], level + 1
    contact, spread, first = levels.contact[level], math.inf, -1
    for i in range(c):
        impact.scope[i] = levels.struck[level, i] or levels.on[level, i]
        if levels.struck[level, i]:
            first = i if first < 0 else first
            if levels.pull[level, i] != 0.0:
                spread = min(spread, _TENTH * -contact[3 * i] / abs(levels.pull[level, i]))
    energy, elastic = 0.0, False
    for i in range(c):
        elastic = elastic or local.restitution[i] > 0.0
    if elastic:
        for i in range(nv):
            for e in range(nv):
                energy += levels.velocity[level, i] * problem.mass[i, e] * levels.velocity[level, e]
    code = resolve(resting, energy, contact, local, task, memory, impact)
    if code != _VALID:
        return code, spread
    for e in range(nv):
        levels.velocity[above, e] = levels.velocity[level, e]
    for r in range(3 * c):
        if impact.total[r] != 0.0:
            for e in range(nv):
                levels.velocity[above, e] += local.A[r, e] * impact.total[r]
    contact_velocities(above, local, levels)
    for i in range(c):
        played = levels.plays[level, i] and not levels.struck[level, i]
        for j in range(k):
            levels.gap[above, i, j] = 0.0
            if played:
                passed = levels.time[above, j] - levels.time[level, j]
                levels.gap[above, i, j] = levels.gap[level, i, j] + contact[3 * i] * passed
    carry(level, first, -contact[3 * first], local, levels, impact)
    # Those that rest after it; the forces may open some of them.
    for i in range(c):
        memory.met[i] = impact.scope[i]
        impact.scope[i] = impact.scope[i] and abs(levels.contact[above, 3 * i]) <= resting
    if not level_motion(
        above, resting, settings, robot, gravity, spheres, problem, local, modes, found, levels, impact
    ):
        return _NOT_UNIQUE, spread
    for i in range(c):
        levels.plays[above, i] = (levels.plays[level, i] or memory.met[i]) and not levels.on[above, i]
        levels.rests[level, i] = impact.scope[i]
    shift(level, levels, impact)
    return _VALID, spread


@kernel
def _write_word(steps, code, problem, levels, impact, out, word):
    """Write one word; of one without a map just its chain and its cone."""
    c, k = levels.gap.shape[1], levels.gap.shape[2]
    out.impacts[word], out.validity[word] = steps, code
    for e in range(steps):
        whole = e < steps - 1 or code in (_VALID, _CUT)
        for i in range(out.struck.shape[2]):
            out.struck[word, e, i] = 0
            out.rests[word, e, i] = 0
        for i in range(c):
            out.struck[word, e, problem.which[i]] = levels.struck[e, i]
            out.rests[word, e, problem.which[i]] = levels.rests[e, i] if whole else 0
    out.cone_rows[word] = levels.rows[steps]
    for r in range(levels.rows[steps]):
        for j in range(k):
            out.cones[word, r, j] = levels.cone[r, j]
    for j in range(k):
        out.last_time[word, j] = levels.time[steps, j]
    for o in range(levels.size.shape[1]):
        out.size[word, o] = levels.size[steps, o]
        for e in range(levels.size[steps, o]):
            for r in range(3):
                out.corners[word, o, e, r] = levels.corners[steps, o, e, r]
    matrix, columns = out.matrix[word], out.columns[word]
    if code != _VALID:
        for i in range(matrix.shape[0]):
            for e in range(matrix.shape[1]):
                matrix[i, e] = math.nan
            for e in range(columns.shape[1]):
                columns[i, e] = math.nan
        for i in range(out.velocity.shape[1]):
            out.velocity[word, i] = out.acceleration[word, i] = math.nan
        out.rank[word] = 0
        return
    for i in range(out.velocity.shape[1]):
        out.velocity[word, i], out.acceleration[word, i] = levels.velocity[steps, i], levels.acceleration[steps, i]
    write_map(steps, levels, matrix, columns)
    out.rank[word] = rank_of(steps, matrix, levels, impact.small, impact.echelon)
