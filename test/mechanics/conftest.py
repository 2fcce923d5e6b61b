"""Fixtures for the tests of mechanics."""

import pytest

from helpers.mechanics_robots import ROBOTS, load
from hybrid_contact_ros.mechanics.model import RigidBodyModel


@pytest.fixture(scope="session")
def go2() -> RigidBodyModel:
    return load("go2")


@pytest.fixture(scope="session", params=sorted(set(ROBOTS) - {"arm"}))
def plain_robot(request: pytest.FixtureRequest) -> RigidBodyModel:
    """A robot without mimic joints, which Pinocchio's aba and computeAllTerms do not know."""
    return load(request.param)


@pytest.fixture(scope="session", params=sorted(ROBOTS))
def any_robot(request: pytest.FixtureRequest) -> RigidBodyModel:
    return load(request.param)
