"""Contacts that a controller or a gait schedule wants closed: ``sensor_msgs/JointState`` with contacts (or their links)
as names, and as positions 1 for closed and 0 for open, or a share between."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.mechanics.sensors import CommandedContacts
from hybrid_contact_ros.messages.contact_sensors import of_contacts, places
from hybrid_contact_ros.messages.parts import Parts
from hybrid_contact_ros.messages.refusals import RefusedError

WANTED = "commanded_contacts"
_CLOSED = 0.5  # a share above which a contact is wanted closed
_PAUSE_NS = 1_000_000_000  # a longer one begins anew


class CommandedContactReader:
    """Makes commanded contacts of messages. A name is that of a contact, or of a link with one or more."""

    def __init__(self, model: Any) -> None:
        self._places, self._m = places(model), len(model.contact_names)
        self.reset()

    def reset(self) -> None:
        """Forget all commands."""
        self._stamp = 0
        self._wanted = np.full(self._m, np.nan)
        self._since = np.zeros(self._m, dtype=np.int64)

    def read(self, parts: Parts, stamp_ns: int) -> CommandedContacts:
        """The commands of a message; contacts that it does not name, and those with NaN, are not commanded.

        Raises:
            RefusedError: ``array_length``, ``contact_names``, ``not_finite`` or ``implausible`` (below 0 or above 1).
        """
        values, shares = of_contacts(parts, "position", self._places, self._m, "contact")
        if ((values < 0.0) | (values > 1.0)).any():
            raise RefusedError("implausible", f"{values[(values < 0.0) | (values > 1.0)][0]:g} is not within 0 and 1")
        wanted = np.where(np.isnan(shares), np.nan, shares > _CLOSED)
        if not 0 < stamp_ns - self._stamp <= _PAUSE_NS:
            self.reset()
        self._since = np.where(wanted == self._wanted, self._since, stamp_ns)
        self._stamp, self._wanted = stamp_ns, wanted
        return CommandedContacts(stamp_ns, wanted, self._since)
