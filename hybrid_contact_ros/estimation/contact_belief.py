"""The belief over open, sticking and slipping: its groups, its memory, and its configuration as the kernels read it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config_belief import BeliefConfig
from hybrid_contact_ros.kernels.estimation.averaged_forces import AVERAGED, AVERAGING
from hybrid_contact_ros.kernels.estimation.belief_records import BeliefSettings
from hybrid_contact_ros.kernels.estimation.belief_step import BeliefRecord, BeliefUse
from hybrid_contact_ros.kernels.estimation.contact_belief import GROUP, STATES
from hybrid_contact_ros.kernels.estimation.landed_forces import force_memory

_NOTHING = -1.0  # a belief or a noise before the first state


def groups(links: Sequence[str]) -> NDArray[np.int64]:
    """Contacts in groups that are believed in jointly: (g, GROUP) indices, −1 where a place is free.

    The contacts of one link stay together as far as a group has room, and links share a group in their order: four
    point feet are one group, and each sole with four corners is one.

    >>> groups(["left"] * 3 + ["right"] * 3).tolist()
    [[0, 1, 2, -1], [3, 4, 5, -1]]
    """
    found: list[list[int]] = []
    for link in dict.fromkeys(links):
        own = [i for i, name in enumerate(links) if name == link]
        for k in range(0, len(own), GROUP):
            part = own[k : k + GROUP]
            if found and len(found[-1]) + len(part) <= GROUP:
                found[-1] += part
            else:
                found.append(part)
    table = np.full((len(found), GROUP), -1, dtype=np.int64)
    for row, members in zip(table, found, strict=True):
        row[: len(members)] = members
    return table


def belief_settings(config: BeliefConfig, sigmas: float, weight: float, contacts: int) -> BeliefSettings:
    """The configuration for a robot of this ``weight`` (N); ``sigmas``: half-width of bounds of predicted times."""
    share = weight / max(contacts, 1)
    values = {name: float(getattr(config, name)) for name in BeliefSettings._fields if hasattr(config, name)}
    return BeliefSettings(
        **values, load_sigma=config.load_part * share, share=share, sigmas=float(sigmas),
        load_limit=config.load_level * share, slip_sigma=config.slip_part * share, slip_limit=config.slip_level * share,
    )  # type: ignore[arg-type]  # fmt: skip


def belief_use(config: BeliefConfig, links: Sequence[str], joints: int, rank: int, level: float) -> BeliefUse:
    """What is made of the belief, for a robot with contacts on these links and so many joints. ``rank`` (of the
    contacts' rows) and ``level`` (N) are those of :func:`~.free_forces.free_forces`.

    A single body has no joints whose efforts could be wrong or right: all that moves it would be laid to its contacts.
    How several points of one link share a force is not known, and the belief in each of them is no better than its
    gap: contacts are decided by belief where each has a link of its own, or what each sole bears is known.
    """
    return BeliefUse(
        lead=float(config.force_lead),
        level=level,
        rank=rank,
        close_above=float(config.close_above),
        open_below=float(config.open_below),
        decides=bool(config.decides),
        apart=len(set(links)) == len(links),
        observes=joints > 0,
        slope=float(config.calibration_slope),
        offset=float(config.calibration_offset),
        course=float(config.calibration_course),
    )


def belief_record(links: Sequence[str], nv: int) -> BeliefRecord:
    """Memory and scratch for contacts on these ``links`` of a robot with ``nv`` coordinates; nothing is believed."""
    m, table = len(links), groups(links)
    return BeliefRecord(
        members=table,
        belief=np.full((len(table), STATES), _NOTHING),
        kind=np.zeros(m, np.uint8),
        times=np.full((m, 3), np.nan),
        held=np.zeros(m),  # a robot that is first seen at rest stands
        forces=force_memory(m),
        load=np.zeros(m),
        touching=np.zeros(m, np.uint8),
        weight=np.ones(m),
        probability=np.zeros((m, 2)),
        slow=np.full(m, np.inf),
        last=np.zeros(nv),
        noise=np.full(1, _NOTHING),
        force=np.full(m, np.nan),
        covariance=np.zeros((m, m)),
        doubt=np.zeros(m),
        averaged=np.zeros((AVERAGED, nv)),
        averaging=np.zeros(AVERAGING),
        inverse=np.zeros((m, 3 * m)),
        transition=np.zeros((GROUP, 3, 3)),
        single=np.zeros((GROUP, 3)),
        joint=np.zeros(1 << GROUP),
        L=np.zeros((GROUP, GROUP)),
        x=np.zeros(GROUP),
    )


def forget(record: BeliefRecord) -> None:
    """Believe nothing."""
    record.belief.fill(_NOTHING)
    record.noise.fill(_NOTHING)
    record.force.fill(np.nan)
    record.doubt.fill(0.0)
    record.probability.fill(0.0)
    record.slow.fill(np.inf)
    record.kind.fill(0)
    record.held.fill(0.0)
    record.forces[:] = force_memory(len(record.forces))
    record.load.fill(0.0)
    record.touching.fill(0)
