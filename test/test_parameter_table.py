"""docs/parameters.md and ``check --explain`` say what the code declares."""

from pathlib import Path

import pytest

from hybrid_contact_ros.commands.explain import explain
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_own import OWN
from hybrid_contact_ros.parameter_table import markdown, rows

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"
CONFIG = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "finger"}}, "activation": {"gap_on": 0.004}})


def test_the_page_of_parameters_is_what_the_code_declares():
    made = "python -m hybrid_contact_ros.parameter_table > docs/parameters.md makes it anew"
    assert PAGE.read_text(encoding="utf-8") == markdown(), made


def test_every_default_lies_in_its_range_and_every_parameter_says_what_it_does():
    for row in rows():
        assert row.text, row.name
        if row.low is not None and row.high is not None and not isinstance(row.default, tuple):
            assert row.low <= row.default <= row.high, row.name


def test_names_are_told_apart_and_those_of_the_nodes_alone_are_there():
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names)
    assert set(OWN) <= set(names)


def test_explain_gives_the_value_of_the_file_beside_the_default():
    (gap_on,) = explain(CONFIG, "gap_on")
    assert (gap_on["value"], gap_on["default"], gap_on["unit"]) == (0.004, 0.003, "m")


def test_explain_names_contacts_as_the_file_does():
    assert [each["name"] for each in explain(CONFIG, "coulomb coefficient")] == ["contacts.tip.friction"]


def test_explain_without_a_word_has_every_parameter_of_the_estimator():
    told = {each["name"].replace(".tip.", ".NAME.").replace(".ground.", ".NAME.") for each in explain(CONFIG, "")}
    assert told == {row.name for row in rows()} - set(OWN)


def test_a_word_that_no_parameter_has_is_refused():
    with pytest.raises(ValueError, match="frobnicate"):
        explain(CONFIG, "frobnicate")
