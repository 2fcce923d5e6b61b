"""The Bayes filter over open, sticking and slipping."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.belief import CONFIG, SHARE, WEIGHT, Belief, evidence
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.contact_belief import groups
from hybrid_contact_ros.kernels.estimation import belief_likelihoods as likelihoods
from hybrid_contact_ros.kernels.estimation.belief_records import BeliefSettings
from hybrid_contact_ros.kernels.estimation.contact_belief import GROUP, BeliefMemory, heed_reach, transitions
from hybrid_contact_ros.kernels.estimation.landed_forces import force_memory

SWINGING = {"gap": 0.06, "rate": 0.5, "slide": 0.8, "load": 0.0, "force": 0.0, "touching": 0}


def test_a_foot_that_stands_is_closed_one_that_swings_open_and_one_that_slides_slips():
    belief = Belief(4)
    for _ in range(50):
        found = belief.step()
    assert (found[:, 0] > 0.97).all() and (found[:, 1] < 0.2).all()
    for _ in range(50):
        found = belief.step(slide=[0.0, 0.0, 0.0, 0.25])
    assert found[3, 1] > 0.8 and (found[:3, 1] < 0.2).all()
    for _ in range(50):
        found = belief.step(**SWINGING)
    assert (found[:, 0] < 0.03).all()


def enumerated(states: list[dict], start, m: int, config: BeliefSettings) -> np.ndarray:
    """P(closed), P(slip) of each contact after the last state, by all sequences of all joint states."""
    joint_states = list(itertools.product(range(3), repeat=m))
    memory = BeliefMemory(
        np.zeros((1, 81)), np.zeros(m, np.uint8), np.full((m, 3), np.nan), np.zeros(m), force_memory(m)
    )
    factors, T = [], np.zeros((m, 3, 3))
    for t, state in enumerate(states):
        seen = evidence(m, first=t == 0, **state)
        single, joint = np.zeros((m, 3)), np.zeros(1 << GROUP)
        for i in range(m):
            likelihoods.single_likelihoods(i, config, seen, memory.held, memory.forces, single[i])
        likelihoods.joint_likelihoods(
            np.arange(m), m, config, seen, memory.forces, np.zeros((4, 4)), np.zeros(4), joint
        )
        factors.append(
            [
                math.exp(sum(single[i, s[i]] for i in range(m)) + joint[sum((s[i] > 0) << i for i in range(m))])
                for s in joint_states
            ]
        )
    for i in range(m):
        transitions(i, config, 1e-3, memory, T[i])
    weights = np.zeros(len(joint_states))
    for path in itertools.product(range(len(joint_states)), repeat=len(states)):
        p = math.prod(start[a] for a in joint_states[path[0]]) * factors[0][path[0]]
        for t in range(1, len(path)):
            before, after = joint_states[path[t - 1]], joint_states[path[t]]
            p *= math.prod(T[i, before[i], after[i]] for i in range(m)) * factors[t][path[t]]
        weights[path[-1]] += p
    weights /= weights.sum()
    return np.array(
        [
            [sum(w for w, s in zip(weights, joint_states, strict=True) if s[i] in wanted) for wanted in ((1, 2), (2,))]
            for i in range(m)
        ]
    )


STATE = st.fixed_dictionaries(
    {
        "gap": st.floats(-0.01, 0.05),
        "rate": st.floats(-0.5, 0.5),
        "slide": st.floats(0.0, 0.6),
        "load": st.floats(-20.0, 60.0),
        "force": st.floats(-20.0, 60.0),
    }
)


@settings(deadline=None, max_examples=40)
@given(st.lists(STATE, min_size=1, max_size=5))
def test_the_belief_in_one_contact_is_the_sum_over_all_sequences(states):
    belief = Belief(1, SHARE)
    for state in states:
        found = belief.step(**state)
    assert found == pytest.approx(enumerated(states, (0.5, 0.4, 0.1), 1, belief.settings), abs=1e-6)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(STATE, STATE), min_size=1, max_size=3), st.floats(-0.9, 0.9))
def test_the_joint_belief_in_two_contacts_is_the_sum_over_all_sequences_of_both(pairs, correlation):
    belief, covariance = Belief(2, 2 * SHARE), 30.0 * np.array([[1.0, correlation], [correlation, 1.0]])
    states = [{k: [a[k], b[k]] for k in a} | {"covariance": covariance} for a, b in pairs]
    for state in states:
        found = belief.step(**state)
    assert found == pytest.approx(enumerated(states, (0.5, 0.4, 0.1), 2, belief.settings), abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-50.0, 80.0), min_size=4, max_size=4), st.integers(0, 2**31))
def test_the_likelihood_of_forces_is_that_of_a_normal_distribution_with_outliers(force, seed):
    half = np.random.default_rng(seed).normal(size=(4, 4))
    covariance, config = 5.0 * half @ half.T + np.eye(4), Belief(4).settings
    seen = evidence(4, first=True, force=force, covariance=covariance)
    found = np.zeros(16)
    likelihoods.joint_likelihoods(np.arange(4), 4, config, seen, force_memory(4), np.zeros((4, 4)), np.zeros(4), found)
    wanted = []
    for chosen in range(16):
        on = np.array([(chosen >> i) & 1 for i in range(4)], float)
        sigma = covariance + SHARE**2 * np.diag(config.force_part**2 + on)
        error = np.maximum(force, 0.0) - SHARE * on  # no contact pulls
        wanted.append(-0.5 * error @ np.linalg.solve(sigma, error) - 0.5 * np.linalg.slogdet(sigma)[1])
    ratio = np.exp(np.array(wanted) - max(wanted))
    assert np.exp(found) == pytest.approx((1 - config.outliers) * ratio + config.outliers, rel=1e-6)


def test_two_feet_whose_forces_are_known_only_in_sum_are_believed_in_jointly():
    """Their sum is one share: one of the two is closed, and not both or none."""
    covariance = 400.0 * np.array([[1.0, -0.999], [-0.999, 1.0]])
    belief, unknown = Belief(2, 2 * SHARE), {"gap": 0.02, "gap_sigmas": 0.05, "touching": 0}
    for _ in range(200):
        belief.step(force=[0.5 * SHARE, 0.5 * SHARE], covariance=covariance, rate=0.1, **unknown)
    table = belief.record.belief[0, :9].reshape(3, 3)
    one = table[0, 1:].sum() + table[1:, 0].sum()
    apart = table[0].sum() * table[:, 1:].sum() + 0.0  # what independent marginals would make of one of the two orders
    assert one > table[0, 0] and table.sum() == pytest.approx(1.0)
    assert table[0, 0] < table[0].sum() * table[:, 0].sum() and apart > 0.0


HUGE = st.sampled_from([0.0, 1e-200, -1e-200, 1.0, -1.0, 1e9, -1e9, 1e200, -1e200])
TINY = st.sampled_from([1e-200, 1e-9, 1e-3, 1.0, 1e200])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(*[HUGE] * 4, *[TINY] * 3, st.booleans()), min_size=1, max_size=6),
    st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e200]),
)
def test_beliefs_stay_probabilities_whatever_comes_in(states, dt):
    belief = Belief(4)
    for gap, rate, load, force, gap_sigma, rate_sigma, scale, trusted in states:
        found = belief.step(
            dt=dt, trusted=trusted, gap=[gap, 0.0, 0.0, 0.01], rate=[rate, 0.0, 0.1, 0.0], slide=[abs(rate), 0, 0, 1],
            load=[load, 0.0, 40.0, -40.0], force=[force, 0.0, 40.0, 40.0], gap_sigmas=gap_sigma, rate_sigmas=rate_sigma,
            spread=rate_sigma, covariance=np.eye(4) * scale, kind=[1, 2, 3, 4], times=[[gap, rate, load]] * 4,
        )  # fmt: skip
        assert np.isfinite(found).all() and (found >= 0.0).all() and (found <= 1.0).all()
        assert belief.record.belief[0].sum() == pytest.approx(1.0, abs=1e-12)
    for _ in range(1000):  # and what was believed wrongly can be unlearned
        found = belief.step()
    assert (found[:, 0] > 0.9).all()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(*[STATE] * 4), min_size=1, max_size=8), st.permutations(range(4)), st.integers(0, 2**31))
def test_the_order_of_contacts_does_not_matter(states, order, seed):
    half = np.random.default_rng(seed).normal(size=(4, 4))
    covariance = 10.0 * half @ half.T + np.eye(4)
    plain, moved = Belief(4), Belief(4)
    for four in states:
        given = {k: np.array([s[k] for s in four]) for k in four[0]}
        found = plain.step(covariance=covariance, **given)
        other = moved.step(
            covariance=np.ascontiguousarray(covariance[np.ix_(order, order)]), **{k: v[order] for k, v in given.items()}
        )
        assert other == pytest.approx(found[order], abs=1e-9)


def test_64_contacts_are_believed_in_by_groups_of_four_each_as_if_it_were_alone():
    many, few = Belief(64, 16 * WEIGHT), Belief(4)
    assert many.record.members.shape == (16, 4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = {"gap": rng.normal(0, 0.01, 64), "rate": rng.normal(0, 0.1, 64), "force": rng.normal(20, 20, 64)}
        found = many.step(**state)
        alone = few.step(**{k: v[8:12] for k, v in state.items()})
    assert found[8:12] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize(
    "links, table",
    [
        (["a", "b", "c", "d"], [[0, 1, 2, 3]]),
        (["l"] * 4 + ["r"] * 4, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (["l", "l", "r", "r", "hand"], [[0, 1, 2, 3], [4, -1, -1, -1]]),
        (["a", "b", "a"], [[0, 2, 1, -1]]),
        (["a"] * 5, [[0, 1, 2, 3], [4, -1, -1, -1]]),
    ],
)
def test_contacts_of_one_link_share_a_group(links, table):
    assert groups(links).tolist() == table


def log_odds(p: float) -> float:
    return math.log(p / (1.0 - p))


def test_states_that_come_more_often_do_not_make_a_contact_more_certain():
    found = []
    for dt in (2e-4, 5e-4, 1e-3):
        belief = Belief(1, SHARE)
        for _ in range(round(1.0 / dt)):
            p = belief.step(dt=dt, gap=0.004, load=3.0, force=9.0, slide=0.05)[0, 0]
        found.append(log_odds(p))
    assert np.ptp(found) < 0.25 * max(np.abs(found))


def test_a_contact_at_rest_for_an_hour_is_no_more_certain_than_its_rates_allow():
    belief = Belief(1, SHARE)
    for _ in range(200):
        settled = belief.step()[0, 0]
    for _ in range(20000):
        late = belief.step()[0, 0]
    assert late == pytest.approx(settled, abs=1e-6)
    # What leaves between two states is ruled out by no more than the likelihood of one.
    least = 1.0 - math.exp(-CONFIG.liftoff_rate * 1e-3)
    assert 1.0 - late > least * CONFIG.outliers**4


@settings(deadline=None, max_examples=60)
@given(st.floats(-0.02, 0.05), st.floats(0.0, 0.02), st.floats(1e-4, 5e-3))
def test_the_transition_to_touch_follows_the_hazard_of_the_foretold_time(time, width, dt):
    config = Belief(1).settings
    T = np.zeros((3, 3))
    times = np.array([[time, time - width, time + width]])
    kind = np.array([EventKind.TOUCHDOWN], np.uint8)
    transitions(0, config, dt, BeliefMemory(np.zeros((1, 81)), kind, times, np.zeros(1), force_memory(1)), T)
    assert T.sum(axis=1) == pytest.approx(np.ones(3)) and (T >= 0.0).all()
    scale = math.sqrt(3.0) / math.pi * math.hypot(width / 2.0, config.foresight_sigma)
    at = dt * (np.arange(2000) + 0.5) / 2000  # the hazard of a logistic distribution is its own share, over its scale
    hazard = np.mean(1.0 / (1.0 + np.exp(-(at - time) / scale))) / scale * dt
    assert T[0, 0] == pytest.approx(math.exp(-config.touchdown_rate * dt - config.foresight * hazard), rel=1e-5)


def test_a_foretold_touchdown_is_believed_earlier_than_one_that_nothing_foretold():
    def after(kind):
        belief = Belief(1, SHARE)
        for _ in range(50):
            belief.step(**SWINGING)
        for k in range(3):
            times = [[0.001 - 0.001 * k] * 3]
            p = belief.step(gap=0.001, force=0.3 * SHARE, load=0.0, touching=0, rate=-0.05, kind=[kind], times=times)
        return p[0, 0]

    assert after(EventKind.TOUCHDOWN) > after(EventKind.NONE) + 0.01


def test_forces_count_by_their_weight():
    def open_foot_with_force(weight):
        belief = Belief(1, SHARE)
        for _ in range(100):
            p = belief.step(weight=weight, gap=0.02, rate=0.2, slide=0.2, force=SHARE, load=SHARE)
        return p[0, 0]

    found = [open_foot_with_force(w) for w in (0.0, 0.1, 0.5, 1.0)]
    assert found == sorted(found) and found[-1] > found[0] + 0.05
    ignored = Belief(1, SHARE)
    for _ in range(100):
        p = ignored.step(observed=False, touching=0, gap=0.02, rate=0.2, slide=0.2)
    assert found[0] == pytest.approx(p[0, 0], abs=2e-3)


def test_a_foot_that_rests_under_next_to_nothing_stays_closed_and_one_that_hovers_or_fades_away_opens():
    """As in a bound, while the other pair lands: 2 % of a share by the mode, and 13 % by an observer that lags."""
    rest = [1.5 * SHARE] * 3
    cases = {"rests": (0.02, 0.13, 0.02), "hovers": (0.02, 0.0, 0.02), "fades": (-0.1, 0.13, 0.15)}
    ends = {}
    for name, (load, force, slide) in cases.items():
        belief = Belief(4)
        for _ in range(100):
            belief.step(stood=1)
        for _ in range(12):
            ends[name] = belief.step(
                load=[load * SHARE, *rest], force=[force * SHARE, *rest], slide=[slide, 0.0, 0.0, 0.0], stood=1,
                covariance=np.eye(4) * (0.02 * SHARE) ** 2,
            )[0, 0]  # fmt: skip
    assert ends["rests"] > CONFIG.open_below > max(ends["hovers"], ends["fades"])


def test_a_load_that_is_missing_opens_a_foot_that_rests_and_not_one_that_ground_still_stops():
    """A mode is of rigid ground, which needs no force to stop what still sinks in; the observer sees that force."""
    found = {}
    for rate in (0.0, -0.12):
        belief = Belief(4)
        for _ in range(20):
            belief.step(stood=1)
        for _ in range(8):
            found[rate] = belief.step(stood=1, rate=rate, rate_sigmas=0.05, load=-0.05 * SHARE, force=0.35 * SHARE)
    assert found[0.0][0, 0] < CONFIG.open_below < CONFIG.close_above < found[-0.12][0, 0]


@pytest.mark.parametrize(
    ("gap", "rate", "least", "most"),
    [
        (0.02, 0.0, 1.0, 1.0),  # its table may be there
        (0.1, -2.0, 1.0, 1.0),  # it is there within 40 ms
        (0.1, 0.0, 0.001, 0.004),
        (0.1, 0.3, 0.001, 0.004),
        (0.1, -0.5, 0.1, 0.3),
    ],
)
def test_a_tip_touches_the_less_without_any_sign_the_later_it_can_reach_its_table(gap, rate, least, most):
    out = np.array([[0.9, 0.06, 0.04], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]])
    before = out.copy()
    heed_reach(0, evidence(1, gap=gap, rate=rate, surfaces=0.002, gap_sigmas=0.001), out)
    part = out[0, 1] / before[0, 1]
    assert least <= part <= most and out[0, 2] / before[0, 2] == pytest.approx(part)
    assert out.sum(axis=1) == pytest.approx(np.ones(3)) and np.array_equal(out[1:], before[1:])
