"""A node whose kernels of ``event_sensitivity`` were never compiled goes ahead without them, and takes them up."""

import threading

import pytest

from hybrid_contact_msgs.msg import ContactMode, EventSensitivity
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes import engine_node, sensitivity_worker
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode


@pytest.fixture
def late(monkeypatch):
    """Kernels that are not there until the event is set; what it then says is whether they were compiled."""
    done, compiled = threading.Event(), [True]

    def compile_beside(config, urdf, parts, kernels, ended):
        assert parts == Parts.SENSITIVITY and list(kernels)
        while not done.wait(0.01):
            if ended():
                return False
        return compiled[0]

    monkeypatch.setattr(engine_node, "postponed", lambda *_: Parts.SENSITIVITY)
    monkeypatch.setattr(sensitivity_worker, "compile_beside", compile_beside)
    return done, compiled


def test_states_are_answered_meanwhile_and_sensitivities_begin_with_the_newest_state(bench, late):
    done, _ = late
    modes, heard = bench.listen(ContactMode, "contact_mode"), bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode)
    bench.until(lambda: node._sensitivity.heard)
    stamps = [bench.answer(modes).header.stamp for _ in range(3)]
    assert not node.stream.maps.at_rest and not heard
    done.set()
    bench.until(lambda: heard)
    assert heard[0].header.stamp in stamps


def test_the_node_is_cleaned_up_while_they_are_compiled(bench, late):
    node = bench.start(ContactSuiteNode)
    thread = node.stream.maps._thread
    assert thread.is_alive()
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert not thread.is_alive()


def test_without_them_the_output_stays_silent_and_the_log_says_so(bench, late, capfd):
    done, compiled = late
    compiled[0] = False
    modes, heard = bench.listen(ContactMode, "contact_mode"), bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode)
    bench.until(lambda: node._sensitivity.heard)
    done.set()
    bench.until(lambda: node.stream.maps.at_rest)
    bench.answer(modes)
    bench.until(lambda: node.stream.maps.at_rest)
    assert not heard and "event_sensitivity is left out" in capfd.readouterr().err
