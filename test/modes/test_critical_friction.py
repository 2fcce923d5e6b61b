"""What is told beforehand of robots whose configured friction lies near the critical one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.modes.critical_friction import critical_friction, jamming

ROOT = Path(__file__).resolve().parents[2]


def robot(config: str, urdf: str | None, friction: float | None = None) -> RigidBodyModel:
    settings = EstimatorConfig.from_file(ROOT / "config" / config)
    if friction is not None:
        contacts = {name: replace(c, friction=friction) for name, c in settings.contacts.items()}
        settings = replace(settings, contacts=contacts)
    if urdf is None:
        return RigidBodyModel.from_urdf(ROOT / "config" / "cube.urdf", settings)
    try:
        return RigidBodyModel.from_urdf(example_urdf(urdf), settings)
    except FileNotFoundError as error:
        pytest.skip(str(error))


GO2 = ("go2.yaml", "go2_description/urdf/go2.urdf")
ANYMAL = ("anymal.yaml", "anymal_b_simple_description/robots/anymal.urdf")


def test_the_shipped_anymal_is_told_that_its_feet_jam_and_the_go2_is_not():
    warned, quiet = critical_friction(robot(*ANYMAL)), critical_friction(robot(*GO2))
    assert [c.contact for c in warned] == ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
    line, detail = jamming(warned)
    assert "LF_FOOT, RF_FOOT, LH_FOOT, RH_FOOT" in line and "friction 0.8" in line and "\n" not in line
    assert all(f"{c.contact}: friction 0.8" in detail for c in warned)
    assert all(0.2 < c.low < 0.8 and c.low < c.median for c in warned)
    assert jamming(quiet) is None


def test_the_share_grows_with_the_friction_from_none_to_all():
    shares = np.array([[c.share for c in critical_friction(robot(*GO2, mu), 100)] for mu in (0.1, 1.5, 2.0, 100.0)])
    assert (np.diff(shares, axis=0) >= 0.0).all()
    assert (shares[0] == 0.0).all() and (shares[-1] == 1.0).all()


def test_a_free_cube_has_no_postures_and_corners_that_may_jam_when_tipped_over_them():
    """One contact of a cube alone: its corner is off the centre of mass, sideways as far as below it."""
    found = critical_friction(robot("cube.yaml", None), 5)
    corners = np.array([(c.low, c.median, c.share) for c in found if np.isfinite(c.low)])
    np.testing.assert_allclose(corners, np.tile(corners[0], (len(corners), 1)), rtol=1e-9)


def test_joint_limits_have_no_friction_and_never_jam():
    model = robot("arm.yaml", "panda_description/urdf/panda.urdf")
    found = {c.contact: c for c in critical_friction(model, 50)}
    limits = [c for name, c in found.items() if name.endswith(("_lower", "_upper"))]
    assert limits and all(c.share == 0.0 and not c.reported for c in limits)
