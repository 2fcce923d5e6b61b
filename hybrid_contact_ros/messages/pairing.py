"""Joint states and bases become pairs: which base belongs to a joint state, and whether it waits for one.

A joint state is answered at once when the base of its stamp is here. If the two streams run in step (the last joint
states had a base of their own stamp each), a joint state waits for its base, which may arrive just after it, unless a
newer one is here; the next joint state ends that wait. If the streams do not run in step, the newest base within
``input.odometry_timeout`` is carried to the stamp of the joint state (:mod:`.carried_base`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hybrid_contact_ros.messages.carried_base import CarriedBases
from hybrid_contact_ros.messages.inertial_trail import InertialTrail
from hybrid_contact_ros.messages.joint_states import JointReading
from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.refusals import RefusedError

ODOM = "odom"
_IN_STEP = 2
"""This many matches in a row are streams in step. One match is not: 200 Hz odometry meets each fifth joint state of a
stream of 1 kHz."""


class Pair(NamedTuple):
    """A joint state, its stamp (ns), and the base at that stamp."""

    stamp: int
    joints: JointReading
    base: Base


class Pairing:
    """Pairs two streams whose stamps were checked. Stamps are ns.

    Args:
        timeout_ns: by how much a base may be older or newer than the joint state that it is carried to.
        in_step: whether new streams are taken to run in step until they show that they do not.
        count: is told the topic, reason and detail of a joint state that waited in vain.
        unit: what an inertial unit measured lately; None without one.

    Attributes:
        refused: why the newest odometry was refused; empty if it was not.
    """

    def __init__(
        self,
        timeout_ns: int,
        in_step: bool,
        count: Callable[[str, str, str], None],
        unit: InertialTrail | None = None,
    ) -> None:
        self._timeout_ns, self._in_step, self._count = timeout_ns, in_step, count
        self._carry = CarriedBases(unit)
        self.reset()

    def reset(self) -> None:
        """Forget both streams."""
        self._bases: list[tuple[int, Base]] = []  # newest last, two at most
        self._carry.reset()
        self._held: tuple[int, JointReading] | None = None
        # Joint states in a row that had a base of their own stamp; new streams get the benefit of the doubt.
        self._matches = _IN_STEP if self._in_step else 0
        self._matched = True
        self.refused = ""

    def forget_after(self, stamp: int) -> None:
        """The clock was set to ``stamp``: forget what belongs to its other time."""
        self._held = None
        self._bases = [entry for entry in self._bases if entry[0] <= stamp]

    def add_joints(self, stamp: int, joints: JointReading) -> Pair | None:
        """A joint state has come: its pair, or None where it waits for its base.

        Raises:
            RefusedError: ``no_odometry`` or ``odometry_timeout``.
        """
        held, self._held = self._held, None
        if held is not None:
            if self._bases:
                self._count(ODOM, "odometry_late", "")
            else:
                self._count(ODOM, "no_odometry", self._why_refused())
        self._matches = self._matches + 1 if self._matched else 0
        base = self._at(stamp)
        self._matched = base is not None
        if base is not None:
            return Pair(stamp, joints, self._carry.at(base, stamp, stamp))
        # Where a newer base is here, that of this stamp was lost, and would be refused if it came.
        if self._matches >= _IN_STEP and not (self._bases and self._bases[-1][0] > stamp):
            self._held = (stamp, joints)
            return None
        return Pair(stamp, joints, self._carried(stamp))

    def add_base(self, stamp: int, base: Base, last_joints: int) -> Pair | None:
        """A base has come, and ``last_joints`` is the stamp of the newest joint state: the pair of the joint state that
        waited for this base, or None.

        Raises:
            RefusedError: ``odometry_timeout``.
        """
        # Those of streams in step are not carried, but where one is lost or all are late.
        self._carry.note(base, stamp, self._matches < _IN_STEP)
        self._bases = [*self._bases[-1:], (stamp, base)]
        if stamp == last_joints:
            self._matched = True
        if self._held is None or stamp < self._held[0]:
            return None
        (at, joints), self._held = self._held, None
        exact = self._at(at)
        return Pair(at, joints, self._carried(at) if exact is None else self._carry.at(exact, at, at))

    def _at(self, stamp: int) -> Base | None:
        """The base measured at a stamp, where it is one of the two newest."""
        for at, base in reversed(self._bases):
            if at == stamp:
                return base
        return None

    def _carried(self, stamp: int) -> Base:
        """The newest base, carried to a stamp.

        Raises:
            RefusedError: ``no_odometry`` or ``odometry_timeout``.
        """
        if not self._bases:
            raise RefusedError("no_odometry", self._why_refused(), ODOM)
        at, base = self._bases[-1]
        if abs(stamp - at) > self._timeout_ns:
            away = f"{abs(stamp - at) * 1e-9:.3f} s, input.odometry_timeout is {self._timeout_ns * 1e-9:g} s"
            why = self._why_refused()
            raise RefusedError("odometry_timeout", f"{away}; {why}" if why else away, ODOM)
        return self._carry.at(base, at, stamp)

    def _why_refused(self) -> str:
        return f"the last one was refused: {self.refused}" if self.refused else ""
