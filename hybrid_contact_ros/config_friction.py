"""Parameters of the bounds of each contact's friction coefficient (``docs/friction.md``)."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class FrictionConfig:
    """What forces must show before they bound μ, how long that is remembered, and when a slip is warned of."""

    learn: bool = leaf(True, "-", None, None, "bounds of each contact's friction are learned from its forces")
    apply: bool = leaf(True, "-", None, None, "forces are solved for with the friction of a contact's last slide")
    load_share: float = leaf(0.25, "-", 0.01, 10.0, "a foot that tells of friction bears this part of its share")
    model: float = leaf(0.2, "-", 0.0, 1.0, "part of a ratio of forces that the models may have wrong")
    sigmas: float = leaf(3.0, "-", 0.0, 100.0, "of the noise of forces, within which a ratio shows nothing")
    time: float = leaf(30.0, "s", 1e-3, 1e9, "a bound is looser by a factor of e after this time")
    length: float = leaf(1.0, "m", 1e-3, 1e9, "and at this distance from where it was shown")
    slide_speed: float = leaf(
        0.1, "m/s", 1e-4, 100.0, "a contact that slides, and so shows all its friction, is faster"
    )
    margin: float = leaf(
        0.1, "-", 0.0, 1.0, "a slip is warned of where a contact holds all but this part of its friction"
    )
    lead: float = leaf(0.02, "s", 0.0, 10.0, "or will hold all of it within this time")
