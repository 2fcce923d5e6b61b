"""What stands on the page: honest sentences, exact edges, and no more bytes than allowed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from helpers.results import FEET, trot
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.reporting.events import KINDS, Foretold, foretold
from hybrid_contact_ros.reporting.headline import headline
from hybrid_contact_ros.reporting.impacts import impacts, outline
from hybrid_contact_ros.reporting.mistakes import mistakes
from hybrid_contact_ros.reporting.page import page, write_report
from hybrid_contact_ros.reporting.panels import Bars
from hybrid_contact_ros.reporting.record import Record
from hybrid_contact_ros.reporting.score_panels import score_panels
from hybrid_contact_ros.reporting.time_panels import time_panels
from hybrid_contact_ros.results.file import Result
from hybrid_contact_ros.results.scored import truth_of, with_truth
from hybrid_contact_ros.scoring.event_timing import event_timing


def panels(record: Record) -> dict:
    events, landed = foretold(record), impacts(record)
    return {one.key: one for one in (*time_panels(record, events, landed), *score_panels(record, events))}


def test_ten_minutes_of_a_quadruped_at_500_hz_stay_below_10_mb(tmp_path):
    path = write_report(tmp_path / "long.html", *trot(600.0))
    assert path.stat().st_size < 10e6


def test_the_page_names_no_address_that_it_would_load(tmp_path):
    text = write_report(tmp_path / "trot.html", *trot(2.0)).read_text()
    outside_of_scripts = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(?i)https?://|url\(|@import", outside_of_scripts)
    assert not re.search(r"(?i)<(script|link|img|iframe)[^>]*\s(src|href)=", text.replace("'", '"'))
    assert "default-src 'none'" in text


def test_edges_of_contacts_are_those_of_the_states_to_the_nanosecond():
    summary, tables = trot(6.0)
    record = Record(summary, tables)
    stamps, closed = tables["states"]["stamp_ns"], tables["contacts"]["closed"]
    for j, name in enumerate(FEET):
        (bars,) = (
            x for x in panels(record)["contacts"].items
            if isinstance(x, Bars) and x.row == name and x.name == "predicted: closed"
        )  # fmt: skip
        change = np.diff(closed[:, j].astype(int), prepend=0)
        begins = np.round(bars.begins * 1e9).astype(np.int64) + stamps[0]
        assert begins.tolist() == stamps[change > 0].tolist()
        ends = np.round(bars.ends * 1e9).astype(np.int64) + stamps[0]
        assert ends[: int(np.sum(change < 0))].tolist() == stamps[change < 0].tolist()


def test_errors_of_foretold_events_are_those_of_the_scores():
    record = Record(*trot(20.0))
    for one in foretold(record):
        errors, missed = [], 0
        for j in range(4):
            kind = record.column("contacts", "next_event")[:, j]
            ahead = record.column("contacts", "time_to_event")[:, j].astype(float)
            right = record.closed[:, j] == (one.kind == EventKind.LIFTOFF)
            times = record.edges[j].scored(KINDS[one.kind])
            score = event_timing(record.t, np.where(right, kind, 0), ahead, times, one.kind, one.horizon)
            errors += score.errors.tolist()
            missed += score.missed
        assert one.errors == pytest.approx(np.array(errors), abs=1e-9)
        assert one.missed.size == missed > -1
        assert one.events == len(errors) + missed > 100


@pytest.mark.parametrize("named", [True, False])
def test_as_many_events_are_drawn_as_the_scores_count(named):
    summary, tables = trot(20.0, truth=named)
    counted = summary["scores" if named else "self_consistency"]
    drawn = foretold(Record(summary, tables))
    for one in drawn:
        (row,) = (x for x in counted[KINDS[one.kind]] if x["horizon"] == one.horizon)
        assert (one.events, one.missed.size) == (row["events"], row["missed"])
        assert np.median(np.abs(one.errors)) == pytest.approx(row["error_median"], abs=1e-9)
    assert len(drawn) == 6


def test_a_truth_of_several_topics_is_compared_with_the_newest_that_is_known_of_each_contact():
    """As force plates tell that do not measure together: at most stamps one of them is known."""
    summary, tables = trot(4.0)
    known = np.zeros_like(tables["truth"]["known"])
    known[::2, :2] = known[1::2, 2:] = True
    tables["truth"]["known"] = known
    held = Result(summary, tables)
    scores = with_truth(held, truth_of(held)).summary["scores"]
    wrong = Record(summary, tables).wrong
    assert scores["accuracy"] == pytest.approx(1.0 - wrong.sum() / (wrong.size - 2))  # two are not known at first


def test_a_truth_of_impacts_alone_is_no_truth_of_contacts():
    summary, tables = trot(4.0, truth=False)
    summary["truth"] = ["/truth/impact"]
    text = page(Record(summary, tables))
    assert "The truth tells of impacts alone, so nothing here says how right the contacts are." in text
    assert "No truth was named" not in text and "8 observed impacts" in text


def test_the_worst_comes_first_and_every_window_is_in_the_recording():
    record = Record(*trot(20.0))
    found = mistakes(record, foretold(record), impacts(record))
    assert found[0].kind == "contact" and "FL_foot is called open while it is closed" in found[0].text
    assert found[0].begin == pytest.approx(0.4 * 20.0, abs=0.01) and found[0].end - found[0].begin > 0.2
    assert {one.kind for one in found} == {"contact", "impact", "event", "input"}
    assert [one.weight for one in found if one.kind == "impact"] == pytest.approx([0.3] * 4)
    assert any("no_velocity" in one.text for one in found)


@pytest.mark.parametrize("error, text", [(-0.019, "19.0 ms too early"), (0.011, "11.0 ms too late"), (-0.009, None)])
def test_an_event_that_is_foretold_by_half_its_horizon_too_early_or_late_is_told(error, text):
    none = np.empty(0)
    one = Foretold(EventKind.TOUCHDOWN, 0.02, np.ones(1), np.array([error]), np.zeros(1, int), none, none.astype(int))
    told = [found.text for found in mistakes(Record(*trot(4.0)), [one], []) if found.kind == "event"]
    assert told == ([f"FL_foot: the touchdown was foretold {text}"] if text else [])


def test_times_without_states_are_told():
    summary, tables = trot(4.0)
    tables["states"]["stamp_ns"][1000:] += 300_000_000
    del tables["truth"]
    record = Record(summary, tables)
    (gap,) = (one for one in mistakes(record, [], []) if one.kind == "gap")
    assert gap.begin == pytest.approx(1.998) and gap.end - gap.begin == pytest.approx(0.302)


def test_headline_takes_its_numbers_from_the_scores():
    summary, tables = trot(6.0)
    said = headline(Record(summary, tables), impacts(Record(summary, tables)))
    assert any(f"{summary['scores']['accuracy']:.1%} of contact states are right" in x for x in said)
    seen = summary["scores"]["touchdown_delay"]
    told = f"Touchdowns are seen 4.0 ms late (median); {seen['undetected']} of {seen['events']} are missed."
    assert seen["undetected"] == 1 and told in said
    assert any("12 observed impacts" in x and "11 of their velocities" in x for x in said)


def test_without_a_truth_the_page_says_so_and_claims_nothing(tmp_path):
    summary, tables = trot(3.0, truth=False)
    text = page(Record(summary, tables))
    assert "No truth was named" in text
    assert "Nothing to draw: no truth was named." in text  # the reliability
    assert "contact states are right" not in text
    assert not any(one.kind == "contact" for one in mistakes(Record(summary, tables), [], []))


@pytest.mark.parametrize("left", [("states",), ("states", "contacts"), ("states", "contacts", "truth")])
def test_a_result_without_a_table_is_still_reported_and_says_what_is_absent(left):
    summary, tables = trot(2.0)
    text = page(Record(summary | {"scores": None}, {name: tables[name] for name in left}))
    assert "no input was refused or reported" in text
    assert "no impact was observed" in text
    if "contacts" not in left:
        assert "the result file has no contacts/probability" in text


def test_columns_of_nothing_but_nan_are_no_trouble():
    summary, tables = trot(2.0)
    for name in ("normal_force", "time_to_event", "earliest", "latest", "gap", "ground_sigma", "probability"):
        tables["contacts"][name][:] = np.nan
    drawn = panels(Record(summary, tables))
    assert "no effort was measured" in drawn["force_0"].empty
    assert drawn["next_event"].empty == "no touchdown or liftoff was foretold"
    assert "nan" not in page(Record(summary, tables)).split("<main>")[1].split("</main>")[0]


def test_one_state_is_a_report_and_none_is_refused():
    summary, tables = trot(2.0)
    one = {name: {c: v[:1] for c, v in columns.items()} for name, columns in tables.items() if name in ("states",)}
    assert "1 states" in page(Record(summary | {"scores": None}, one))
    with pytest.raises(ValueError, match="no state"):
        Record(summary, {"states": {"stamp_ns": np.empty(0, np.int64)}})


def test_forty_contacts_with_long_names_have_rows_of_their_own():
    feet = tuple(f"a_humanoids_left_sole_corner_point_{i}_of_the_sole" for i in range(40))
    summary, tables = trot(1.0, feet=feet)
    record = Record(summary, tables)
    drawn = panels(record)
    assert len(drawn["contacts"].rows) == 40 and len(drawn["probability"].items) == 8
    assert "Of 40 contacts, those 8 that change most often are drawn." in drawn["probability"].caption
    page(record)


def test_groups_are_closed_where_any_member_is():
    summary, tables = trot(2.0)
    summary["groups"] = [{"name": "front", "members": [0, 1]}, {"name": "rear", "members": [2, 3]}]
    tables["truth"]["closed"] = np.ones((tables["states"]["stamp_ns"].size, 2), bool)
    record = Record(summary, tables)
    assert np.array_equal(record.predicted[:, 0], tables["contacts"]["closed"][:, :2].any(axis=1))
    assert panels(record)["contacts"].rows == ("front", "rear")


def test_what_the_truth_does_not_know_is_not_called_wrong():
    summary, tables = trot(4.0)
    before = Record(summary, tables).wrong
    tables["truth"]["known"] = np.ones_like(tables["truth"]["closed"])
    tables["truth"]["known"][:, 0] = False
    wrong = Record(summary, tables).wrong
    assert before[:, 0].any() and not wrong[:, 0].any()
    assert np.array_equal(wrong[:, 1:], before[:, 1:])


def test_hulls_of_points_on_a_line_are_its_ends():
    assert sorted(outline(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])).tolist()) == [[0.0, 0.0], [3.0, 3.0]]
    assert len(outline(np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]], float))) == 4


def test_reports_of_the_same_result_have_the_same_words(tmp_path):
    """Identifiers of plots differ from run to run; what a reader sees does not."""
    one, other = (page(Record(*trot(2.0))).split("<main>")[1].split("</main>")[0] for _ in range(2))
    clean = re.compile(r"(id|data-root-id)=\"[^\"]*\"")
    assert clean.sub("", one) == clean.sub("", other)
