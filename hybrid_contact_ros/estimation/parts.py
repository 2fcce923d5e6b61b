"""What an estimator can be asked for."""

from __future__ import annotations

from enum import IntFlag


class Parts(IntFlag):
    """The parts of a :class:`~hybrid_contact_ros.prediction.Prediction` that an update computes, combined with ``|``.

    Attributes:
        MODE: the contact mode and each contact's next event, which are always computed.
        STABILITY: the stability flags with their margins.
        IMPACT: the set of velocities after the next impact, if one is predicted within the horizon.
        SEQUENCE: the sequence of modes and events that follow this mode (``prediction.rollout`` in the configuration).
        ALL: these four parts.
        SENSITIVITY: how each event within ``sensitivity.horizon`` changes with the state before it. It is not in ALL,
            since it takes longer than all of it.
    """

    MODE = 1
    STABILITY = 2
    IMPACT = 4
    SEQUENCE = 8
    ALL = 15
    SENSITIVITY = 16


BESIDE = Parts.IMPACT | Parts.SENSITIVITY
"""The parts that threads beside the stream of states compute in a node."""
