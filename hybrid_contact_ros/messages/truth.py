"""What sensors or a simulator observed, as the messages that scores compare predictions with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, LandingPhase
from hybrid_contact_ros.messages.envelope import Envelope, ModelNames
from hybrid_contact_ros.messages.impact_set import LandingArrays
from hybrid_contact_ros.messages.types import MessageTypes, fill

OPEN, STICKING, SLIPPING = ContactStatus.OPEN, ContactStatus.STICKING, ContactStatus.SLIPPING


class TruthEncoder:
    """Messages of the truth, in the types of the suite. What is not known is NaN (numbers), 0 or empty.

    Args:
        types: the message classes.
        model: its names and its hash are read once.
        frame_id: the world frame.
    """

    def __init__(self, types: MessageTypes, model: ModelNames, frame_id: str = "world") -> None:
        self._envelope = Envelope(types, model, frame_id)

    def truth(
        self,
        stamp_ns: int,
        closed: Sequence[bool],
        force_W: NDArray[np.float64] | None = None,
        slipping: Sequence[bool] | None = None,
    ) -> Any:
        """What sensors or a simulator know of the contacts, as the ``ContactMode`` that scores compare with.

        Args:
            stamp_ns: stamp of the measurement, ns.
            closed: (m,), which contacts touch.
            force_W: (m, 3) N, environment on robot, in world axes; NaN where unknown. It goes into ``force_estimate``.
            slipping: (m,), which of the closed contacts slide. Without it all of them are STICKING.
        """
        envelope, T = self._envelope, self._envelope.types
        nan = float("nan")
        count = len(envelope.names)
        forces = [(nan, nan, nan)] * count if force_W is None else np.asarray(force_W, np.float64).tolist()
        touching = [bool(value) for value in closed]
        sliding = [False] * count if slipping is None else [bool(value) for value in slipping]
        columns = zip(envelope.names, envelope.frames, touching, sliding, forces, strict=True)
        contacts = []
        for name, frame, touches, slides, f in columns:
            c = T.blank_contact()
            c.name, c.frame = name, frame
            c.status = int((STICKING, SLIPPING)[slides] if touches else OPEN)
            c.probability, c.probability_valid = float(touches), True
            for vector in (c.position, c.normal, c.tangential_velocity, c.force_model):
                fill(vector, (nan, nan, nan))
            fill(c.force_estimate, f)
            c.gap = c.normal_velocity = c.friction_coefficient = c.friction_margin = c.critical_friction = (
                c.force_weight
            ) = nan
            c.time_to_event = c.time_to_event_earliest = c.time_to_event_latest = nan
            c.time_to_event_q05 = c.time_to_event_q25 = c.time_to_event_q75 = c.time_to_event_q95 = nan
            c.event_probability = c.ground_offset = c.ground_sigma = nan
            c.ground_offset = c.ground_sigma = nan
            c.friction_lower = c.friction_upper = c.friction_ratio = c.time_to_slip = nan
            contacts.append(c)
        return T.ContactMode(
            header=envelope.header(stamp_ns),
            mode=sum(1 << i for i, touches in enumerate(touching) if touches),
            contacts=contacts,
            sequence=[],
            validity=0,
            residual=nan,
            compute_time=envelope.duration(0),
            input_age=envelope.duration(0),
            model_hash=envelope.hash,
        )

    def true_impact(
        self,
        stamp_ns: int,
        time_ns: int,
        contacts: Sequence[str],
        v_minus: NDArray[np.float64],
        v_plus: NDArray[np.float64],
    ) -> Any:
        """An impact that was observed, as the ``PostImpactVelocitySet`` of one outcome that scores compare with.

        Args:
            stamp_ns: stamp of the message, ns.
            time_ns: time of the impact, ns.
            contacts: names of the contacts that took part.
            v_minus, v_plus: (nv,) velocities before and after the impact.
        """
        envelope, T = self._envelope, self._envelope.types
        nan, empty = float("nan"), T.float64(np.empty(0))
        return T.PostImpactVelocitySet(
            header=envelope.header(stamp_ns),
            impact_time=envelope.time(time_ns),
            time_to_impact=(time_ns - stamp_ns) * 1e-9,
            contacts=list(contacts),
            velocity_names=[],
            v_minus=T.float64(v_minus),
            v_nominal=empty,
            count=1,
            dof=int(np.size(v_plus)),
            velocities=T.float64(v_plus),
            lower=empty,
            upper=empty,
            coverage=nan,
            coverage_radius=nan,
            confidence=nan,
            coverage_valid=False,
            kinetic_energy_minus=nan,
            kinetic_energy_min=nan,
            kinetic_energy_max=nan,
            law="observed",
            truncated=False,
            terminated=True,
            residual=nan,
            compute_time=envelope.duration(0),
            model_hash=0,
            generator_count=0,
            margin=0.0,
            jump=nan,
            level=0.0,
            level_valid=False,
            calibration_count=0,
            calibration_method="",
            quantile_level=0.0,
            basis_rows=0,
            time_to_impact_earliest=nan,
            time_to_impact_latest=nan,
            time_bounds_valid=False,
            phase=int(LandingPhase.COMPLETE),
            order_probability=nan,
            order_probability_valid=False,
            **dict.fromkeys(LandingArrays._fields, empty),
        )
