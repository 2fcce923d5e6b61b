"""What a prediction says of a cluster is what the solver found, word by word."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import block, free
from hybrid_contact_ros.codes import EventKind, EventValidity
from hybrid_contact_ros.estimation.event_records import cluster_record, single_record
from hybrid_contact_ros.estimation.events_ahead import EventAhead
from hybrid_contact_ros.sensitivity.cluster_solver import ClusterSolver
from hybrid_contact_ros.sensitivity.orders import word_of
from hybrid_contact_ros.sensitivity.saltation import saltation


def test_words_are_those_of_the_cluster_the_most_probable_first():
    model, state = block().model, free(0, 0.051, (0.3, 0, -1.0))
    covariance = np.diag([1e-6] * 6 + [1e-4] * 6)
    found = ClusterSolver(model, 4, 4).solve(state.q, state.v, [0, 1, 2, 3], [], np.zeros(6), covariance=covariance)
    assert found.words > 5
    record = cluster_record(0, EventAhead(EventKind.TOUCHDOWN, (0, 1, 2, 3), 0.01), found, covariance, found.words)
    chances = [word.probability for word in record.words]
    assert chances == sorted(chances, reverse=True) and len(record.words) == found.words
    by_text = {word_of(found.chain(j)): j for j in range(found.words)}
    assert len(by_text) == found.words
    for word in record.words:
        j = by_text[word.text]
        chain = found.chain(j)
        assert word.struck == tuple(sum(1 << i for i in step.struck) for step in chain)
        assert word.closed == tuple(sum(1 << i for i in step.rests) for step in chain)
        assert word.probability == found.moments.probability[j]
        if word.validity != EventValidity.VALID:
            assert word.saltation is None and word.why
            continue
        np.testing.assert_array_equal(word.saltation, found.matrix[j])
        np.testing.assert_allclose(word.velocity_gradient, found.velocity_gradient(j), atol=1e-12)
        part = found.matrix[j][6:]
        np.testing.assert_allclose(word.velocity_covariance, part @ covariance @ part.T, atol=1e-12)
    short = cluster_record(0, EventAhead(EventKind.TOUCHDOWN, (0, 1, 2, 3), 0.01), found, covariance, 2)
    assert [word.text for word in short.words] == [word.text for word in record.words[:2]]
    assert short.other_probability >= sum(chances[2:]) - 1e-3


def test_flags_of_a_cluster_fall_where_its_times_are_less_certain_than_its_maps_reach():
    model, state = block().model, free(0, 0.051, (0.3, 0, -1.0))
    event, solver = EventAhead(EventKind.TOUCHDOWN, (0, 1), 0.01), ClusterSolver(model, 4, 4)
    for scale, valid in ((1.0, True), (1e6, False)):
        covariance = scale * np.diag([1e-8] * 6 + [1e-6] * 6)
        found = solver.solve(state.q, state.v, [0, 1], [], np.zeros(6), covariance=covariance)
        record = cluster_record(0, event, found, covariance, 24)
        assert record.spread < 0.1 and (2.0 * record.time_sigma.max() <= record.spread) == valid
        assert (record.time_sigma_valid, record.probability_valid, record.mixture_valid) == (valid,) * 3
        assert record.covariance is not None


def test_flags_of_a_liftoff_fall_where_its_time_is_less_certain_than_near():
    gradient = np.zeros(12)
    gradient[2] = 1.0
    found = saltation(np.eye(12), -gradient, gradient, gradient, velocity_after=np.zeros(6), kind="liftoff")
    for sigma, valid in ((4e-3, True), (6e-3, False)):
        event = EventAhead(EventKind.LIFTOFF, (0,), 0.01)
        record = single_record(0, event, [0], np.zeros(7), np.zeros(6), found, sigma**2 * np.eye(12))
        assert record.time_sigma[0] == pytest.approx(sigma)
        assert (record.time_sigma_valid, record.probability_valid, record.mixture_valid) == (valid,) * 3
        assert record.words[0].probability == 1.0
