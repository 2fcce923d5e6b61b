"""Demos, tests and benchmarks of one machine stay out of each other's ROS domains."""

import os

import pytest

from hybrid_contact_ros.ros import domain


def test_a_domain_is_claimed_once_while_its_claim_is_open():
    first, claim = domain.claim_domain()
    second, other = domain.claim_domain()
    with claim, other:
        assert len({first, second, int(os.environ["ROS_DOMAIN_ID"])}) == 3
        assert all(1 <= number <= 101 for number in (first, second))


def test_it_says_so_where_all_domains_are_claimed(monkeypatch):
    monkeypatch.setattr(domain, "_LAST", 0)
    with pytest.raises(OSError, match="let one of them end"):
        domain.claim_domain()
