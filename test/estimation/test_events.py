"""Event times by extrapolation, and the events that are told."""

import math

import numpy as np
import pytest

from helpers.steps import Log, Predictor
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.prediction_record import PredictionRecord
from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.estimation.event_times import follow_line, touchdown_time
from hybrid_contact_ros.prediction import Event

ACTIVATION, PREDICTION = ActivationConfig(), PredictionConfig(horizon=1.0)


@pytest.mark.parametrize("height, speed", [(0.3, 0.0), (0.01, -1.0), (0.2, 1.5), (1e-9, -3.0)])
def test_a_thrown_ball_touches_down_when_the_closed_form_says(height, speed):
    expected = (speed + math.sqrt(speed**2 + 2 * 9.81 * height)) / 9.81
    assert first_root(height, speed, -9.81) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "gap, rate, acceleration, expected",
    [
        (0.1, -1.0, 0.0, 0.1),  # no acceleration
        (0.1, -1.0, 1e-14, 0.1),
        (0.1, -1.0, -1e-14, 0.1),
        (0.1, 0.0, 0.0, math.inf),  # at rest
        (0.1, 0.0, 1.0, math.inf),
        (0.1, 1.0, 0.0, math.inf),
        (0.1, -0.1, 1.0, math.inf),  # turns back before it touches: the discriminant is negative
        (0.5, -1.0, 1.0, 1.0),  # grazes: the discriminant is zero
        (0.0, -1.0, 5.0, 0.0),
        (-0.01, 0.0, 0.0, 0.0),
        (0.0, 1.0, -2.0, 1.0),  # leaves and returns
        (0.0, 1.0, 0.0, math.inf),
    ],
)
def test_roots_at_degenerate_coefficients(gap, rate, acceleration, expected):
    assert first_root(gap, rate, acceleration) == pytest.approx(expected, rel=1e-9)


def test_touchdown_bounds_contain_the_truth_at_the_stated_rate_under_the_stated_noise():
    rng = np.random.default_rng(2)
    sigmas, gap_sigma, velocity_sigma, acceleration_sigma, out = 2.0, 0.001, 0.02, 2.0, np.zeros(3)
    inside = 0
    for _ in range(4000):
        gap, rate = rng.uniform(0.02, 0.1), rng.uniform(-2.0, -0.5)
        truth = first_root(gap, rate, -9.81)
        seen, seen_rate = gap + gap_sigma * rng.normal(), rate + velocity_sigma * rng.normal()
        bent = -9.81 + acceleration_sigma * rng.normal()
        touchdown_time(sigmas, gap_sigma, velocity_sigma, acceleration_sigma, seen, seen_rate, bent, out)
        assert out[1] <= out[0] <= out[2]
        inside += out[1] <= truth <= out[2]
    assert inside / 4000 == pytest.approx(math.erf(sigmas / math.sqrt(2)), abs=0.015)


def test_the_latest_touchdown_is_infinite_where_it_may_not_happen():
    out = np.zeros(3)
    touchdown_time(2.0, 0.001, 0.02, 0.0, 0.0495, -1.0, 10.0, out)  # it would turn back 0.5 mm after the surface
    assert math.isfinite(out[0]) and math.isinf(out[2])


def test_the_fading_memory_line_follows_a_ramp_exactly_at_uneven_steps():
    track = np.full(3, -1.0)
    t = 0.0
    rng = np.random.default_rng(3)
    for _ in range(400):
        dt = rng.uniform(5e-4, 3e-3)
        t += dt
        follow_line(dt, 0.01, 40.0 - 300.0 * t, track)
    assert track[1] == pytest.approx(-300.0, rel=1e-6)
    assert track[0] == pytest.approx(40.0 - 300.0 * t, rel=1e-6)


NO_RHYTHM = np.full((1, 2, 3), np.inf)


def run(
    predictor, load, margin=1e3, closed=1, slipping=0, speed=0.0, slip_rate=0.0, gap=0.0, rate=0.0, trusted=True,
    expected=NO_RHYTHM,
):  # fmt: skip
    kind, times, backed = predictor.update(
        expected, gap=gap, rate=rate, closed=closed, slipping=slipping, trusted=trusted, speed=speed, load=load,
        margin=margin, acceleration=-9.81, slip_acceleration=slip_rate,
    )  # fmt: skip
    return EventKind(kind), times, EventKind(backed)


def test_liftoff_under_a_steadily_falling_load_is_foretold_exactly():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for i in range(180):
        kind, times, _ = run(predictor, load=100.0 - 0.5 * i)
    assert kind == EventKind.LIFTOFF
    assert times[0] == pytest.approx((100.0 - 0.5 * 179) / 500.0, rel=1e-3)
    spread = PREDICTION.bound_sigmas * ACTIVATION.force_sigma / 500.0
    assert times[2] - times[0] == pytest.approx(spread, rel=1e-2)


def test_slip_is_foretold_where_the_friction_margin_falls_first_and_stick_from_deceleration():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for i in range(190):
        kind, times, _ = run(predictor, load=200.0, margin=20.0 - 0.1 * i)
    assert kind == EventKind.SLIP and times[0] == pytest.approx(1.1 / 100.0, rel=1e-3)
    kind, times, _ = run(predictor, load=200.0, slipping=1, speed=0.2, slip_rate=-4.0)
    assert kind == EventKind.STICK and times[0] == pytest.approx(0.05)


def test_a_liftoff_is_not_hidden_by_the_slip_just_before_it():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for i in range(190):
        kind, times, _ = run(predictor, load=100.0 - 0.5 * i, margin=19.5 - 0.1 * i)
    assert kind == EventKind.LIFTOFF and times[0] == pytest.approx(5.5 / 500.0, rel=1e-2)


def test_without_trusted_effort_no_force_event_is_foretold():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for i in range(100):
        kind, times, _ = run(predictor, load=100.0 - i, trusted=False)
    assert kind == EventKind.NONE and np.isnan(times).all()


def test_events_beyond_the_horizon_are_not_foretold():
    predictor = Predictor(ACTIVATION, PredictionConfig(horizon=0.1))
    assert run(predictor, 0.0, closed=0, gap=1.0)[0] == EventKind.NONE
    assert run(predictor, 0.0, closed=0, gap=0.01)[0] == EventKind.TOUCHDOWN


def rhythm(event, time, spread):
    expected = NO_RHYTHM.copy()
    expected[0, int(event == EventKind.LIFTOFF)] = time, time - spread, time + spread
    return expected


def test_a_liftoff_that_the_rhythm_foretells_is_taken_with_and_without_effort_until_its_bounds_are_past():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for trusted in (True, False):
        kind, times, _ = run(predictor, 50.0, trusted=trusted, expected=rhythm(EventKind.LIFTOFF, 0.04, 0.01))
        assert kind == EventKind.LIFTOFF and times == pytest.approx([0.04, 0.03, 0.05])
    kind, times, _ = run(predictor, 50.0, expected=rhythm(EventKind.LIFTOFF, -0.002, 0.01))
    assert kind == EventKind.LIFTOFF and times == pytest.approx([0.002, 0.0, 0.008])
    assert run(predictor, 50.0, expected=rhythm(EventKind.LIFTOFF, -0.02, 0.01))[0] == EventKind.NONE
    assert run(predictor, 50.0, expected=rhythm(EventKind.TOUCHDOWN, 0.02, 0.01))[0] == EventKind.NONE


def test_a_slip_well_before_the_liftoff_of_the_rhythm_is_told():
    predictor = Predictor(ACTIVATION, PREDICTION)
    for i in range(190):
        kind, times, _ = run(
            predictor, load=200.0, margin=20.0 - 0.1 * i, expected=rhythm(EventKind.LIFTOFF, 0.08, 0.01)
        )
    assert kind == EventKind.SLIP and times[0] == pytest.approx(0.011, rel=1e-3)


def test_extrapolation_and_rhythm_make_one_touchdown_weighted_by_inverse_variances():
    predictor = Predictor(ACTIVATION, PREDICTION)
    _, alone, _ = run(predictor, 0.0, closed=0, gap=0.02, rate=-0.5)
    width, far = alone[2] - alone[1], 2 * 0.004
    _, both, backed = run(
        predictor, 0.0, closed=0, gap=0.02, rate=-0.5, expected=rhythm(EventKind.TOUCHDOWN, 0.03, 0.004)
    )
    weights = np.array([width**-2, far**-2])
    assert both[0] == pytest.approx(weights @ [alone[0], 0.03] / weights.sum())
    assert min(width, far) < both[2] - both[1] < max(width, far)
    assert backed == EventKind.TOUCHDOWN


def test_a_touchdown_seen_near_is_not_moved_by_a_rhythm_that_says_otherwise():
    predictor = Predictor(ACTIVATION, PREDICTION)
    _, alone, _ = run(predictor, 0.0, closed=0, gap=0.004, rate=-1.0)
    _, both, _ = run(predictor, 0.0, closed=0, gap=0.004, rate=-1.0, expected=rhythm(EventKind.TOUCHDOWN, 0.06, 0.004))
    np.testing.assert_array_equal(both, alone)


def test_a_touchdown_of_the_rhythm_alone_is_told_but_backs_nothing():
    """A foot that still rises: the parabola comes down late or never, the state has no touchdown to extrapolate to."""
    predictor = Predictor(ACTIVATION, PredictionConfig(horizon=0.1))
    kind, times, backed = run(
        predictor, 0.0, closed=0, gap=0.05, rate=0.5, expected=rhythm(EventKind.TOUCHDOWN, 0.05, 0.004)
    )
    assert kind == EventKind.TOUCHDOWN and times == pytest.approx([0.05, 0.046, 0.054])
    assert backed == EventKind.NONE


def log_step(log, stamp, status, gap, doubted=False, kind=0, times=(np.nan,) * 3):
    return log.update(stamp, status, gap, doubted=doubted, kind=kind, times=times)


def test_a_touchdown_between_two_states_is_told_once_at_the_zero_of_the_gap():
    log = Log()
    assert log_step(log, 1_000, 1, 0.003) == ()
    (event,) = log_step(log, 2_000, 2, -0.001, doubted=True)
    assert (event.kind, event.detected, event.time_ns) == (EventKind.TOUCHDOWN, True, 1_750)
    assert (event.earliest_ns, event.latest_ns) == (1_000, 2_000)
    assert log_step(log, 3_000, 2, 0.0) == ()


def test_events_that_took_evidence_are_dated_back_to_where_it_began():
    log = Log()
    log_step(log, 1_000, 2, 0.0)
    log_step(log, 2_000, 2, 0.0, doubted=True)
    log_step(log, 3_000, 2, 0.0001, doubted=True)
    (event,) = log_step(log, 4_000, 1, 0.001, doubted=True)
    assert (event.kind, event.time_ns) == (EventKind.LIFTOFF, 2_000)
    assert (event.earliest_ns, event.latest_ns) == (1_000, 4_000)
    log_step(log, 5_000, 1, 0.003)
    log_step(log, 6_000, 1, -0.001, doubted=True)
    (event,) = log_step(log, 7_000, 2, -0.002, doubted=True)
    assert (event.kind, event.time_ns) == (EventKind.TOUCHDOWN, 5_750)


def test_evidence_that_came_to_nothing_dates_nothing_back():
    log = Log()
    log_step(log, 1_000, 2, 0.0)
    log_step(log, 2_000, 2, 0.0, doubted=True)
    log_step(log, 3_000, 2, 0.0)
    (event,) = log_step(log, 4_000, 1, 0.001, doubted=True)
    assert event.earliest_ns == 3_000 and 3_000 <= event.time_ns <= 4_000


MS = 1_000_000


def tell(log, stamp, time, spread=0.01, kind=1, latest=None):
    return log_step(log, stamp, 1, 0.1, kind=kind, times=(time, time - spread, latest or time + spread))


def test_a_prediction_is_told_when_three_states_agree_and_again_only_when_its_time_leaves_the_bounds_told():
    log = Log()
    assert tell(log, 0, 0.05) == () and tell(log, MS, 0.049) == ()
    (first,) = tell(log, 2 * MS, 0.048)
    assert not first.detected and first.time_ns == 50 * MS
    assert all(tell(log, i * MS, 0.051 - 1e-3 * i) == () for i in range(3, 20))
    told = [event for i in range(20, 30) for event in tell(log, i * MS, 0.08 - 1e-3 * i, latest=np.inf)]
    assert [event.time_ns for event in told] == [80 * MS] and told[0].latest_ns == 2**63 - 1


def test_what_flickers_or_is_nearer_than_the_next_state_is_not_told():
    log = Log()
    jumping = [event for i in range(100) for event in tell(log, i * MS, 0.02 + 0.03 * (i % 2))]
    assert jumping == []
    assert [event for i in range(100, 200) for event in tell(log, i * MS, 1e-4, 1e-3, kind=4)] == []


def test_a_prediction_that_pauses_is_not_told_anew():
    log = Log()
    told = [e for i in range(40) if i % 5 for e in tell(log, i * MS, 0.05 - 1e-3 * i)]
    assert len(told) == 1


def test_confidence_is_the_share_of_predictions_that_came_within_their_bounds():
    record = PredictionRecord(1)

    def episode(start, comes):
        said = record.tell(0, EventKind.TOUCHDOWN, start + 10, start, start + 20)
        time = start + 15 if comes else start + 30
        record.settle(time, [Event(time, 0, EventKind.TOUCHDOWN, True, time, time, time, 1.0)])
        return said

    assert episode(0, True) == 0.5
    said = [episode(1000 * i, i % 4 != 0) for i in range(1, 401)]
    assert said[-1] == pytest.approx(0.75, abs=0.02)
    assert record.tell(0, EventKind.LIFTOFF, 10, 0, 20) == 0.5  # of that kind nothing is known


def test_a_prediction_whose_time_passed_without_the_event_has_failed():
    record = PredictionRecord(1)
    for i in range(30):
        record.tell(0, EventKind.STICK, i * 1000 * MS, 0, i * 1000 * MS + MS)
        record.settle((i + 1) * 1000 * MS, [])
    share = record.tell(0, EventKind.STICK, 10**12, 10**12, 10**12 + MS)
    assert share == pytest.approx(1 / 32)
