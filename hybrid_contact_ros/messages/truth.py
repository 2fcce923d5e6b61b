"""What was observed, by sensors or a simulator, as the messages that scores compare predictions with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.encoding import Encoder, fill


class TruthEncoder(Encoder):
    """Messages of the truth, in the types of the suite. What is not known is NaN (numbers), 0 or empty."""

    def truth(
        self,
        stamp_ns: int,
        closed: Sequence[bool],
        force_W: NDArray[np.float64] | None = None,
        slipping: Sequence[bool] | None = None,
    ) -> Any:
        """What sensors or a simulator know of the contacts, as the ``ContactMode`` that scores compare with.

        Args:
            stamp_ns: of the measurement.
            closed: (m,) touching.
            force_W: (m, 3) N, world frame, environment on robot: goes into ``force_estimate``. NaN where unknown.
            slipping: (m,) which of the closed ones slide. Without it they stand as STICKING.
        """
        T = self.types
        nan = float("nan")
        count = len(self._names)
        forces = [(nan, nan, nan)] * count if force_W is None else np.asarray(force_W, np.float64).tolist()
        touching = [bool(value) for value in closed]
        sliding = [False] * count if slipping is None else [bool(value) for value in slipping]
        contacts = []
        for name, frame, touches, slides, f in zip(self._names, self._frames, touching, sliding, forces, strict=True):
            c = T.blank_contact()
            c.name, c.frame = name, frame
            c.status = (3 if slides else 2) if touches else 1
            c.probability, c.probability_valid = float(touches), True
            for vector in (c.position, c.normal, c.tangential_velocity, c.force_model):
                fill(vector, (nan, nan, nan))
            fill(c.force_estimate, f)
            c.gap = c.normal_velocity = c.friction_coefficient = c.friction_margin = c.critical_friction = nan
            c.time_to_event = c.time_to_event_earliest = c.time_to_event_latest = nan
            contacts.append(c)
        return T.ContactMode(
            header=self._header(stamp_ns),
            mode=sum(1 << i for i, touches in enumerate(touching) if touches),
            contacts=contacts,
            sequence=[],
            validity=0,
            residual=nan,
            compute_time=self._duration(0),
            input_age=self._duration(0),
            model_hash=self._hash,
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

        ``time_ns``: of the impact; velocities (nv,) before and after it.
        """
        T = self.types
        nan, empty = float("nan"), T.float64(np.empty(0))
        return T.PostImpactVelocitySet(
            header=self._header(stamp_ns),
            impact_time=self._time(time_ns),
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
            compute_time=self._duration(0),
            model_hash=0,
        )
