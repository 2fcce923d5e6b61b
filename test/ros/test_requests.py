"""The service ``~/predict_impact``: what it answers, what it refuses, and that the stream goes on meanwhile."""

import math
import threading

import pytest

from helpers import leg
from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

NAME = "predict_impact"


def request_of(bench, height=0.6, fall=-1.0, **fields):
    stamp = bench.stamp()
    return PredictImpact.Request(joints=leg.joint_state(stamp), odometry=leg.odometry(stamp, height, fall), **fields)


@pytest.fixture
def node(bench):
    return bench.start(ContactSuiteNode)


@pytest.fixture
def slow(monkeypatch):
    """Requests are held in their computation until the event is set; the stream's own sets are not."""
    started, go_on = threading.Event(), threading.Event()
    impact = ContactEstimator.impact

    def held(self, *arguments, **options):
        started.set()
        assert go_on.wait(30.0)
        return impact(self, *arguments, **options)

    def patch():
        monkeypatch.setattr(ContactEstimator, "impact", held)
        return started, go_on

    yield patch
    go_on.set()


def test_answers_for_the_given_state_and_seed(bench, node):
    request = request_of(bench, contacts=["foot"], samples=50, seed=3)
    request.deadline.sec = 10
    first, again = (bench.call(PredictImpact, NAME, request) for _ in range(2))
    assert first.success, first.message
    assert list(first.set.contacts) == ["foot"]
    assert first.set.count > 50  # the draws, and the law at the corners of a landing's intervals
    assert first.set.velocities == again.set.velocities
    assert first.set.v_minus[2] == pytest.approx(-1.0)
    assert first.set.kinetic_energy_max <= first.set.kinetic_energy_minus * (1 + 1e-9)


def set_tolerance(value):
    return lambda request: setattr(request, "gap_tolerance", value)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda r: r.contacts.append("hand"), "hand"),
        (lambda r: setattr(r.joints, "position", [leg.NAN, 0.0]), "hip"),
        (lambda r: setattr(r.joints, "name", ["hip", "elbow"]), "knee"),
        (lambda r: setattr(r.odometry.pose.pose.orientation, "w", 0.0), "quaternion"),
        (set_tolerance(math.nan), "gap_tolerance is nan"),
        (set_tolerance(math.inf), "gap_tolerance is inf"),
        (set_tolerance(-math.inf), "gap_tolerance is -inf"),
        (lambda r: setattr(r, "samples", 2**32 - 1), "samples"),
        (lambda r: setattr(r.deadline, "sec", -1), "deadline"),
    ],
)
def test_says_what_is_wrong_with_a_request(bench, node, change, word):
    request = request_of(bench)
    change(request)
    response = bench.call(PredictImpact, NAME, request)
    assert not response.success
    assert word in response.message.lower()


def test_is_refused_while_the_node_is_not_active(bench):
    node = bench.start(ContactSuiteNode, activate=False)
    response = bench.call(PredictImpact, NAME, request_of(bench))
    assert not response.success and response.message == "the node is not active"
    node.trigger_activate()
    assert bench.call(PredictImpact, NAME, request_of(bench)).success
    node.trigger_deactivate()
    assert not bench.call(PredictImpact, NAME, request_of(bench)).success


def test_where_no_contact_takes_part_the_set_is_one_velocity(bench, node):
    response = bench.call(PredictImpact, NAME, request_of(bench, height=2.0))
    assert response.success
    assert response.message == "no contact is within gap_tolerance: nothing happens"
    assert list(response.set.contacts) == [] and response.set.v_nominal == response.set.v_minus
    assert response.set.count == 1 and response.set.velocities == response.set.v_minus
    assert response.set.coverage == 1.0


def test_where_no_contact_approaches_the_set_is_one_velocity(bench, node):
    response = bench.call(PredictImpact, NAME, request_of(bench, fall=1.0))
    assert response.success
    assert response.message == "no contact approaches: nothing happens"
    assert list(response.set.contacts) == ["foot"]
    assert response.set.count == 1 and response.set.velocities == response.set.v_minus


def test_states_are_answered_while_a_request_is_computed(bench, node, slow):
    modes = bench.listen(ContactMode, "contact_mode")
    sets = bench.listen(PostImpactVelocitySet, "impact_set")
    started, go_on = slow()
    client = bench.partner.create_client(PredictImpact, f"contact_suite/{NAME}")
    bench.until(client.service_is_ready)
    asked = client.call_async(request_of(bench))
    bench.until(started.is_set)
    for _ in range(20):
        bench.answer(modes)
    bench.until(lambda: sets)  # sets too, on a thread of their own
    assert not asked.done()
    go_on.set()
    bench.until(asked.done)
    assert asked.result().success


def test_requests_beyond_a_few_are_refused_as_busy_and_the_others_answered_in_order(bench, node, slow):
    _, go_on = slow()
    client = bench.partner.create_client(PredictImpact, f"contact_suite/{NAME}")
    bench.until(client.service_is_ready)
    asked = []
    for seed in range(12):
        asked.append(client.call_async(request_of(bench, seed=seed)))
        # A service's own queue holds ten: the next one comes when the node has this one.
        bench.until(lambda k=seed: min(k + 1, 8) == node._impact._requests._waiting and (k < 8 or asked[k].done()))
    bench.until(lambda: sum(future.done() for future in asked) == 4)
    assert all("busy" in future.result().message for future in asked if future.done())
    go_on.set()
    bench.until(lambda: all(future.done() for future in asked))
    assert [future.result().success for future in asked] == [True] * 8 + [False] * 4


@pytest.mark.parametrize("end", ["cleanup", "shutdown"])
def test_cleaning_up_during_a_request_neither_waits_for_it_nor_ends_the_node(bench, node, slow, end):
    started, go_on = slow()
    client = bench.partner.create_client(PredictImpact, f"contact_suite/{NAME}")
    bench.until(client.service_is_ready)
    asked = client.call_async(request_of(bench))
    bench.until(started.is_set)
    node.trigger_deactivate()
    getattr(node, f"trigger_{end}")()
    go_on.set()
    bench.spin(0.3)
    assert not asked.done()
    if end == "cleanup":
        node.trigger_configure()
        node.trigger_activate()
        assert bench.call(PredictImpact, NAME, request_of(bench)).success


def test_a_request_is_cut_by_the_limit_of_the_node(bench):
    changed = leg.PARAMETERS.replace("impact: {deadline: 0.5}", "impact: {deadline: 0.5, request_deadline: 0.001}")
    node = bench.start(ContactSuiteNode, parameters=changed)
    request = request_of(bench, samples=65536)
    request.deadline.sec = 10
    response = bench.call(PredictImpact, NAME, request)
    assert response.success and response.set.truncated
    assert response.set.count < 65536
    assert response.message == "cut after 0.001 s (impact.request_deadline)"
    assert node.stream.estimator.config.impact.request_deadline == 0.001


def test_a_deadline_before_now_is_refused_by_the_name_of_its_field(bench, node):
    request = request_of(bench)
    request.deadline.sec = -1
    response = bench.call(PredictImpact, NAME, request)
    assert not response.success
    assert response.message == "deadline is -1 s; more than 0 s, or 0 for the node's, is needed"
