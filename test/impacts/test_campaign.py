"""A short run of the campaign (benchmarks/impacts_campaign.py runs 100000)."""

from benchmarks.impacts_campaign import run


def test_no_failure_in_a_short_campaign():
    table = run(1100, seed=7)
    assert sum(row["problems"] for row in table.values()) == 1100
    assert not sum(row["failures"] for row in table.values())
