"""Messages as the record of the demo reads them, made by hand."""

from types import SimpleNamespace as Message

import numpy as np

from hybrid_contact_ros.messages import readers
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.definitions import blank

NAMES = ("left", "right")


def stamp(seconds):
    nanoseconds = round(seconds * 1e9)
    return Message(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def header(seconds):
    return blank("Header", stamp=stamp(seconds))


def along(z):
    return Message(x=0.0, y=0.0, z=z)


def mode(seconds, closed, event=0, time=float("nan"), force=10.0):
    """A ContactMode of two feet."""
    contacts = [
        blank(
            "ContactState",
            name=name,
            frame=name,
            status=2 if is_closed else 1,
            probability=float(is_closed),
            force_model=along(force * is_closed),
            force_estimate=along(force * is_closed),
            normal=along(1.0),
            next_event=event,
            time_to_event=time,
            gap=0.001,
        )
        for name, is_closed in zip(NAMES, closed, strict=True)
    ]
    bits = sum(1 << i for i, x in enumerate(closed) if x)
    return viewed("ContactMode", header=header(seconds), contacts=contacts, mode=bits)


def stability():
    """The flags of two feet. Every array is as long as the contacts, or as the pairs, in any message that is read."""
    flags = {key: [0, 0] for key in ("closed", "bounded_time_stability", "zeno", "grazing", "pseudo_impulse")}
    margins = dict.fromkeys(
        (
            *("constraint_force", "gap_acceleration", "chatter_end", "chatter_end_earliest", "chatter_end_latest"),
            *("touchdown_speed", "friction_margin", "pseudo_impulse_margin"),
        ),
        [float("nan")] * 2,
    )
    flags |= {"constraint_stability": [1, 2], "friction": [0, 1]}
    pairs = {"pair_first": [0], "pair_second": [1], "pair_order_sensitive": [1]}
    pairs |= {"pair_coupling": [0.5], "pair_order_margin": [0.1]}
    return viewed("ConstraintStability", contacts=NAMES, **flags, **margins, **pairs)


def impact(seconds, velocities, v_minus=(-1.0, -1.0), contacts=NAMES, at=None, generators=(), margin=0.0):
    """A PostImpactVelocitySet of a robot whose two velocities are its feet's."""
    rows = np.atleast_2d(np.asarray(velocities, float))
    return viewed(
        "PostImpactVelocitySet",
        header=header(seconds),
        impact_time=stamp(seconds if at is None else at),
        time_to_impact=0.01,
        contacts=list(contacts),
        v_minus=list(v_minus),
        v_nominal=[0.0, 0.0],
        count=len(rows),
        dof=2,
        velocities=rows.ravel().tolist(),
        generator_count=len(generators),
        generators=np.ravel(generators).astype(float).tolist(),
        margin=margin,
        lower=[-0.5, -0.5],
        upper=[0.5, 0.5],
        coverage=0.9,
    )


def viewed(kind, **fields):
    """A view of the bytes of a message with these fields."""
    return getattr(readers, f"{kind}Reader")()(serialize(kind, blank(kind, **fields)))


def event(kind=1, source=1):
    return Message(kind=kind, source=source)
