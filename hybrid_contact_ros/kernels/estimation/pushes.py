"""What the joints of each limb say presses on its feet, where efforts are measured and do not explain all.

A belly, a knee, a wall or a crane that carries a robot is in no contact, and what efforts do not explain costs them
their trust. What is left is then kinematics, by which a foot that is held up still stands as well as any. But the
joints of a limb tell what presses on its foot whatever carries the trunk (:mod:`.limb_forces`), and are believed about
it where they have told loads before, while they were trusted: drives that never said anything true say nothing here.
What presses on a foot by them makes it stand as other loads do (:mod:`.stance`), and one on which nothing has
pressed for a while hangs (:mod:`.hanging`).
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.limb_forces import limb_pushes
from hybrid_contact_ros.kernels.estimation.met_ground import is_single, points_of
from hybrid_contact_ros.kernels.estimation.momentum_observer import has_settled
from hybrid_contact_ros.kernels.estimation.stance import SOLE_SHARE
from hybrid_contact_ros.kernels.estimation.stance_loads import MOST_LOADED

FIRM = 3.0
"""Times the load of what stands, that the joints of a limb say for certain: nobody knows their friction and inertia."""
BORE = 0.2
"""s under a load by efforts that are believed, after which these know whether a foot bears one."""
NOTHING, SOME, LITTLE, MUCH = range(4)
"""Of :func:`told_load`."""
_LIGHT = 0.25  # of the load that a foot bears at least which stands: less is none
_FOR = 0.05  # s, of no load, before it is believed


@kernel
def note_pushes(
    dt, settings, ground, given, believed, weight, table, problem, observer, solver, scratch, stance, ahead, hang
):  # fmt: skip
    """Write ``ahead.pushes``, by the forces that were observed until the last state, and which contacts hang by them:
    ``hang.idle``, which :func:`~.hanging.note_hanging` has written before. weight: (m,), of efforts; what is believed
    of a limb by itself is in the belief already. table: TrustTable."""
    m = problem.gap.shape[0]
    known = given.trusted and not believed and not table.fixed and has_settled(settings.gain, observer)
    known = known and m <= MOST_LOADED
    for i in range(m):
        ahead.pushes[i] = math.nan
        scratch.bytes[0, i] = 1 if ahead.plane_of[i] >= 0 else 0
    if known:
        limb_pushes(
            table.contact_limb, table.limb, ahead.link_of, scratch.bytes[0], problem.rows, observer.residual,
            scratch.integers[0], solver.A, scratch.vectors[0], scratch.vectors[1], ahead.pushes,
        )  # fmt: skip
    for i in range(m):
        if weight[i] >= BELIEVED or not tells_load(i, stance, ahead):
            hang.light[i] = 0.0
            continue
        if not some_load(_LIGHT, i, ground, ahead):
            hang.light[i] += dt
        elif some_load(1.0, i, ground, ahead):
            hang.light[i] = 0.0
        if hang.light[i] > _FOR:
            hang.idle[i] = max(hang.idle[i], 1)
        elif hang.idle[i] == 1 and some_load(FIRM, i, ground, ahead):
            hang.idle[i] = 0
            hang.since[table.contact_limb[i]] = 0.0


@kernel
def tells_load(i, memory, ahead):
    """Whether the joints of its limb say what presses on contact i, where loads are not known
    (:mod:`.limb_forces`): they have told loads before."""
    return memory.bore[i] >= BORE and abs(ahead.pushes[i]) < math.inf


@kernel
def some_load(times, i, ground, ahead):
    """Whether the joints say that the sole of contact i bears so many times what it does at least where it stands."""
    return ahead.pushes[i] > times * points_of(i, ahead.link_of) * ground.least_load


@kernel
def told_load(i, loads, ground, memory, ahead):
    """What the joints say of the load of contact i, where ``loads`` are not known: NOTHING, or that it is SOME, LITTLE,
    less than what stands bears, or MUCH, certainly more."""
    if loads != 0 or not tells_load(i, memory, ahead):
        return NOTHING
    if some_load(FIRM, i, ground, ahead):
        return MUCH
    least = 1.0 if is_single(i, ahead.link_of) else SOLE_SHARE
    return SOME if some_load(least, i, ground, ahead) else LITTLE


@kernel
def known_load(loads, told):
    """``loads`` of all contacts, as of :func:`~.stance_loads.find_loads`, or 1 where these are not known, and the
    joints have ``told`` for certain that a contact bears one."""
    return 1 if told == MUCH else loads
