"""The fixture ``bench`` of all tests of nodes."""

import os

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not there: ./run setup installs it")
pytest.importorskip("hybrid_contact_msgs", reason="hybrid_contact_msgs is not built: ./run setup builds it")

from helpers.node_bench import Bench


@pytest.fixture
def bench(tmp_path):
    assert os.environ.get("ROS_DOMAIN_ID"), "tests must not reach a robot"
    made = Bench(tmp_path)
    yield made
    strangers = made.strangers()
    made.close()
    assert not strangers


@pytest.fixture(scope="module")
def lasting_bench(tmp_path_factory):
    """One for all tests of a file."""
    made = Bench(tmp_path_factory.mktemp("bench"))
    yield made
    strangers = made.strangers()
    made.close()
    assert not strangers
