"""The record of the demo: what it keeps of the messages, and what it says of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from helpers import heard
from hybrid_contact_ros.demo.landings import farthest_points, stamp_at
from hybrid_contact_ros.demo.picture import draw
from hybrid_contact_ros.demo.record import DemoRecord
from hybrid_contact_ros.demo.table import line, live_table, summary_table
from hybrid_contact_ros.impacts.convex_set import ConvexSet


def empty():
    return DemoRecord(heard.NAMES, lambda q: np.diag([2.0, 2.0]), lambda q: np.eye(2))


def filled(chatter=False):
    """Both feet up, down from 0.5 s to 1 s, up again; predictions are right, and 20 ms late after liftoff."""
    record = empty()
    for k in range(750):
        t = 1.0 + 0.002 * k
        down = 250 <= k < 500
        skips = chatter and down and k % 10 == 5
        record.truth(heard.mode(t, (down and not skips, down and not skips)))
        says = 250 <= k < 510
        ahead = 0.002 * (250 - k)
        event = (1, ahead) if 0 < ahead <= 0.05 else (0, float("nan"))
        record.mode(heard.mode(t, (says, says), *event), round((t + 0.001) * 1e9))
    record.stability(heard.stability())
    record.event(heard.event())
    return record


def printed(renderable):
    console = Console(width=200, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_the_summary_counts_scores_and_times():
    summary = filled().summary()
    assert summary["predictions"] == 750
    assert summary["latency"]["p50"] == pytest.approx(0.001, abs=1e-6)
    true, false = 2 * 250, 2 * 10
    assert summary["scores"]["f1"] == pytest.approx(2 * true / (2 * true + false))
    ten = summary["scores"]["touchdown"][0]
    assert (ten["horizon"], ten["events"], ten["missed"], ten["false"]) == (0.01, 2, 0, 0)
    assert ten["error_median"] == pytest.approx(0.0, abs=1e-6)
    assert summary["events"] == {"predicted touchdown": 1}


def test_chatter_of_the_truth_makes_no_events():
    assert filled(chatter=True).summary()["scores"] == filled().summary()["scores"]


def test_a_landing_is_compared_with_the_last_set_before_it():
    record = filled()
    record.impact(heard.impact(1.40, [[0.3, 0.3]]))
    record.impact(heard.impact(1.49, [[0.0, 0.1], [0.1, 0.0]]))
    record.impact(heard.impact(1.51, [[0.4, 0.4]]))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    (landing,) = record.summary()["landings"]
    jump = np.hypot(1.0, 1.0)  # to the nominal outcome
    assert landing["outcomes"] == 2 and landing["feet"] == list(heard.NAMES)
    assert landing["lead"] == pytest.approx(0.01)
    assert landing["distance"] == pytest.approx(0.1 / jump)
    assert landing["nominal_distance"] == pytest.approx(0.2 / jump)
    assert landing["within_bounds"]


def test_generators_and_margin_belong_to_the_set_and_to_its_shadow():
    """M = 2 I: the margin of 0.02 √J is 0.02 / √2 m/s along every axis. The jump to the nominal outcome is 2 √J."""
    record = filled()
    record.impact(heard.impact(1.49, [[0.0, 0.1], [0.1, 0.0]], generators=[[0.0, 0.06]], margin=0.02))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    (landing,) = record.landings()
    assert landing.score.distance == pytest.approx(np.sqrt(2.0) * (0.2 - 0.16 - 0.02 / np.sqrt(2.0)) / 2.0)
    ball = 0.02 / np.sqrt(2.0)
    (shadow,) = landing.shadows
    assert shadow.outline.min(axis=0) == pytest.approx([-ball, -0.06 - ball], abs=1e-12)
    assert shadow.outline.max(axis=0) == pytest.approx([0.1 + ball, 0.16 + ball], abs=1e-12)
    assert landing.normal_range == pytest.approx(np.array([[-ball, -0.06 - ball], [0.1 + ball, 0.16 + ball]]))
    assert shadow.after == pytest.approx([0.0, 0.2]) and shadow.before == pytest.approx([-1.0, -1.0])


def test_a_truth_within_the_generators_is_inside():
    record = filled()
    record.impact(heard.impact(1.49, [[0.0, 0.1], [0.1, 0.0]], generators=[[0.0, 0.12]]))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    summary = record.summary()
    assert summary["landings"][0]["distance"] == 0.0
    text = printed(summary_table(summary))
    assert "1 / 1 of 1" in text and "within 5% of the jump" in text


@given(seed=st.integers(0, 10**6), margin=st.floats(0.0, 0.5))
def test_the_farthest_points_are_in_the_set_and_no_other_is_farther(seed, margin):
    """Against points of the set drawn at random."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4))
    region = ConvexSet(rng.normal(size=(5, 4)), rng.normal(size=(3, 4)), margin, A @ A.T + np.eye(4), 1.0)
    directions = rng.normal(size=(6, 4))
    found = farthest_points(region, directions)
    for point, direction in zip(found, directions, strict=True):
        assert region.distance(point) <= 1e-6 * (1.0 + np.linalg.norm(point))
        shares, parts = rng.dirichlet(np.ones(5), 50), rng.uniform(-1, 1, (50, 3))
        ball = rng.normal(size=(50, 4))
        ball *= margin / np.sqrt(np.einsum("kn,nm,km->k", ball, region.mass, ball))[:, None]
        others = shares @ region.velocities + parts @ region.generators + ball
        assert (others @ direction).max() <= point @ direction + 1e-9


def test_a_bounce_of_more_than_a_few_milliseconds_is_not_hidden():
    record = empty()
    for k in range(300):
        record.truth(heard.mode(1.0 + 0.002 * k, (k not in (100, 101), not 100 <= k < 105)))
    openings = (~record.truth_closed()).sum(axis=0)
    assert openings.tolist() == [0, 5]


def test_missing_numbers_are_dashes_in_table_line_and_summary():
    record = empty()
    record.mode(heard.mode(1.0, (True, False), 0, float("nan"), float("nan")), 10**9)
    snapshot = record.snapshot()
    for row in snapshot["contacts"]:
        row.update(force=None, gap=float("inf"), event=None)
    snapshot["latency_p50"] = None
    for text in (printed(live_table(snapshot)), line(snapshot)):
        assert "nan" not in text and "inf" not in text and "–" in text
    assert "nan" not in printed(summary_table(record.summary()))


def test_a_set_that_comes_after_the_news_of_its_impact_still_counts():
    """A suite that is behind publishes late, but the stamp says what the set was predicted from."""
    record = empty()
    record.mode(heard.mode(1.0, (False, False)), 10**9)
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    assert record.snapshot()["landings"] == []
    record.impact(heard.impact(1.49, [[0.0, 0.1]]))
    record.impact(heard.impact(1.51, [[9.0, 9.0]]))
    record.mode(heard.mode(1.71, (True, True)), round(1.72e9))
    (landing,) = record.snapshot()["landings"]
    assert landing["outcomes"] == 1 and landing["lead"] == pytest.approx(0.01)


@pytest.mark.parametrize("late", [0, 3_000_000, 500_000_000])
def test_an_impact_stays_between_the_states_around_it_however_late_the_second_is(late):
    stamps = [(0.998, 7_000_000), (1.0, 9_000_000), (1.002, 11_000_000 + late), (1.004, 13_000_000 + late)]
    assert stamp_at(1.0015, stamps) == 10_500_001
    assert 9_000_000 < stamp_at(1.0, stamps) < 11_000_000
    assert stamp_at(1.0025, stamps) == 11_500_001 + late


def test_an_impact_never_passes_the_state_after_it_when_stamps_are_close():
    assert stamp_at(1.0019, [(1.0, 0), (1.002, 500_000)]) == 499_999


def test_a_landing_without_a_fresh_set_says_so():
    record = filled()
    record.impact(heard.impact(1.40, [[0.3, 0.3]]))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    assert record.summary()["landings"][0]["outcomes"] == 0
    assert "no set was predicted" in printed(live_table(record.snapshot()))


def test_the_live_table_shows_modes_events_flags_sets_and_latency():
    record = filled()
    record.mode(heard.mode(2.6, (True, False), 2, 0.012), round(2.602e9))
    record.impact(heard.impact(1.49, [[0.0, 0.1]]))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    text = printed(live_table(record.snapshot()))
    for word in ("left", "sticking", "open", "liftoff", "12 ms", "10 N", "holds", "fails", "left–right", "1 outcomes",
                 "p50 1.00 ms"):  # fmt: skip
        assert word in text
    assert "left=sticking right=open" in line(record.snapshot())
    summary = record.summary()
    assert "F1" in printed(summary_table(summary)) and "states (" not in printed(summary_table(summary))
    sent = 2 * summary["predictions"]
    share = f"{summary['predictions']} of {sent} states (50.0 %)"
    assert share in printed(summary_table({**summary, "robot": {"cycles": sent}}))


def test_nothing_heard_is_shown_as_unknown_and_scored_as_nothing():
    record = empty()
    text = printed(live_table(record.snapshot()))
    assert "unknown" in text and "–" in text
    summary = record.summary()
    assert summary["predictions"] == 0 and summary["scores"] is None and summary["latency"]["p50"] is None


def test_the_picture_is_drawn_with_and_without_landings_and_truth(tmp_path):
    record = filled()
    draw(record, tmp_path / "plain.png")
    record.impact(heard.impact(1.49, [[0.0, 0.1]]))
    record.true_impact(heard.impact(1.502, [0.0, 0.2], at=1.5), np.zeros(2))
    draw(record, tmp_path / "landing.png")
    alone = empty()
    alone.mode(heard.mode(1.0, (True, False)), 10**9 + 1)
    draw(alone, tmp_path / "alone.png")
    for name in ("plain", "landing", "alone"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_the_summary_says_when_the_machine_was_too_slow_for_the_simulator():
    summary = filled().summary()
    assert "too slow" not in printed(summary_table({**summary, "robot": {"cycles": 9, "pauses": 0, "paused": 0.0}}))
    text = printed(summary_table({**summary, "robot": {"cycles": 9, "pauses": 7, "paused": 0.364}}))
    assert "too slow" in text and "7 pauses" in text and "0.4 s" in text
