"""The intervals of what a landing adds to an impact."""

from dataclasses import fields

import pytest

from hybrid_contact_ros import EstimatorConfig, LandingTerms
from hybrid_contact_ros.config import LandingConfig


def test_terms_are_those_of_the_parameters_and_a_margin_of_friction():
    config = EstimatorConfig.from_mapping({"landing": {"duration_max": 0.006, "creep": 0.25}}).landing
    terms = LandingTerms.of(config, 0.3)
    assert (terms.duration_max, terms.creep, terms.friction) == (0.006, 0.25, 0.3)
    assert terms.rebound_max == LandingConfig().rebound_max


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration_max", -0.001),
        ("rebound_max", 1.5),
        ("drive_own", float("nan")),
        ("slip", 1.1),
        ("friction", 1.2),
        ("bounce", float("inf")),
        ("margin", -0.1),
    ],
)
def test_a_number_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=rf"landing\.{name} is "):
        LandingTerms(**{name: value})


@pytest.mark.parametrize("name", ["duration", "rebound", "drive"])
def test_an_empty_interval_is_refused_by_name(name):
    with pytest.raises(ValueError, match=rf"landing\.{name}_min is 0\.2, which is more than landing\.{name}_max, 0\.1"):
        LandingTerms(**{f"{name}_min": 0.2, f"{name}_max": 0.1})


def test_terms_are_off_where_all_numbers_are_0_but_that_of_the_friction():
    assert LandingTerms().off and LandingTerms(friction=0.3).off
    for field in fields(LandingTerms):
        if field.name.endswith("_min"):
            continue
        assert LandingTerms(**{field.name: 0.1}).off == (field.name == "friction"), field.name
    assert not LandingTerms(rebound_min=-0.1).off
