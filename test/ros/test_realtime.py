"""What a node asks of the operating system: made, refused, and taken back."""

import errno
import gc
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn

from helpers import leg
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.config import EstimatorConfig, RealtimeConfig
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros import realtime

ALL = {
    "realtime.lock_memory": True,
    "realtime.cpus": [0],
    "realtime.priority": 70,
    "realtime.garbage_collection": "idle",
}


class System:
    """Stands in for the calls to the operating system, and remembers them."""

    def __init__(self, monkeypatch, allowed=True):
        self.allowed, self.locked, self.calls = allowed, [], []
        self.scheduled, self.affinity = {}, {}
        monkeypatch.setattr(realtime.ctypes, "CDLL", lambda *_, **__: self)
        monkeypatch.setattr(realtime.resource, "getrlimit", lambda _: (8192 * 1024, 0))
        monkeypatch.setattr(realtime, "_capabilities", lambda: realtime._CAP_IPC_LOCK if allowed else 0)
        monkeypatch.setattr(os, "sched_getscheduler", lambda t: self.scheduled.get(t, (os.SCHED_OTHER, 0))[0])
        monkeypatch.setattr(os, "sched_getparam", lambda t: os.sched_param(self.scheduled.get(t, (0, 0))[1]))
        monkeypatch.setattr(os, "sched_setscheduler", self.schedule)
        monkeypatch.setattr(os, "sched_getaffinity", lambda t: self.affinity.get(t, {0, 1, 2}))
        monkeypatch.setattr(os, "sched_setaffinity", self.pin)

    def mlockall(self, flags):
        self.locked.append(flags)
        return 0

    def munlockall(self):
        self.locked.clear()
        return 0

    def schedule(self, thread, policy, param):
        if not self.allowed:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        self.scheduled[thread] = policy, param.sched_priority

    def pin(self, thread, cores):
        if not self.allowed:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.affinity[thread] = set(cores)


def workers(node):
    """Native ids of the threads of the sets, of the sensitivities, and of the requests."""
    stream = node.stream
    requests = node._impact._requests._worker.submit(threading.get_native_id).result()
    return [stream.sets._thread.native_id, stream.maps._thread.native_id, requests]


def test_without_the_rights_each_setting_says_what_it_lacks_and_the_node_goes_on(bench, monkeypatch, capfd):
    System(monkeypatch, allowed=False)
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode, **ALL)
    assert node.realtime.faults == [
        "realtime.lock_memory has no effect: memory is not locked, for 8192 kB may be: 'ulimit -l unlimited' is needed",
        "realtime.cpus has no effect: threads cannot run on core 0 (Invalid argument); they may on 0, 1, 2",
        "realtime.cpus has no effect: those of sets cannot run on core 0 (Invalid argument); they may on 0, 1, 2",
        "realtime.priority has no effect: SCHED_FIFO 70 is refused (Operation not permitted): rtprio is limited to "
        f"{8192 * 1024} (ulimit -r)",
    ]
    assert all(fault in capfd.readouterr().err for fault in node.realtime.faults[:1])
    bench.answer(modes)
    level, text, values = bench.diagnosis(node)
    assert level == DiagnosticStatus.WARN and all(fault in text for fault in node.realtime.faults)
    assert "predicting" not in text and values["real time"] == "garbage collection idle"


def test_the_threads_get_what_the_documentation_says_and_have_it_no_more_after_cleanup(bench, monkeypatch):
    system = System(monkeypatch)
    named = {}
    monkeypatch.setattr(realtime, "_name", lambda thread: named.get(thread, "python"))
    middleware = max(set(realtime._threads()) - {t.native_id for t in threading.enumerate()})
    named[middleware] = "dds.udp.7410"
    node = bench.start(ContactSuiteNode, **ALL, **{"realtime.worker_cpus": [1]})
    sets, maps, requests = workers(node)
    main = threading.get_native_id()
    fifo = {thread: param for thread, (policy, param) in system.scheduled.items() if policy == os.SCHED_FIFO}
    assert fifo == {main: 70, middleware: 70, sets: 69, maps: 69}
    assert system.affinity[sets] == system.affinity[maps] == system.affinity[requests] == {1}
    assert system.affinity[main] == system.affinity[middleware] == {0}
    assert system.locked == [7]
    assert node.realtime.faults == []
    assert node.realtime.made == [
        "garbage collection idle",
        "memory locked",
        "threads on core 0",
        "those of sets on core 1",
        "SCHED_FIFO 70",
    ]
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert {policy for policy, _ in system.scheduled.values()} == {os.SCHED_OTHER}
    assert all(cores == {0, 1, 2} for cores in system.affinity.values()) and system.locked == []
    assert gc.isenabled() and node.realtime.made == []


def cores_of_all_threads():
    """A thread of an earlier test may end between the listing and the question."""
    cores = set()
    for thread in realtime._threads():
        with suppress(ProcessLookupError):
            cores.add(tuple(sorted(os.sched_getaffinity(thread))))
    return cores


def test_cores_are_really_set_and_given_back_also_by_a_thread_that_was_started_meanwhile(bench):
    before = tuple(sorted(os.sched_getaffinity(0)))
    core = min(before)
    node = bench.start(ContactSuiteNode, **{"realtime.cpus": [core]})
    assert cores_of_all_threads() == {(core,)}
    with ThreadPoolExecutor(1) as newcomer:
        thread = newcomer.submit(threading.get_native_id).result()
        assert os.sched_getaffinity(thread) == {core}
        node.trigger_deactivate()
        node.trigger_cleanup()
        assert tuple(sorted(os.sched_getaffinity(thread))) == before
        assert cores_of_all_threads() == {before}


def test_a_core_that_is_not_there_is_told(bench):
    node = bench.start(ContactSuiteNode, **{"realtime.worker_cpus": [1023]})
    (fault,) = node.realtime.faults
    assert fault.startswith("realtime.worker_cpus has no effect: those of sets cannot run on core 1023 (")


def test_of_several_cores_those_that_are_not_there_are_told(bench):
    core = min(os.sched_getaffinity(0))
    node = bench.start(ContactSuiteNode, **{"realtime.cpus": [core, 1023]})
    assert "threads are not on core 1023, which this process does not have" in node.realtime.faults
    assert f"threads on core {core}" in node.realtime.made


def test_memory_is_not_locked_where_a_later_allocation_could_fail(monkeypatch):
    system = System(monkeypatch, allowed=False)
    made = realtime.Realtime(SimpleNamespace(warning=lambda _: None, info=lambda _: None))
    made.begin(RealtimeConfig(lock_memory=True))
    assert system.locked == [] and len(made.faults) == 1
    monkeypatch.setattr(realtime.resource, "getrlimit", lambda _: (realtime.resource.RLIM_INFINITY, 0))
    made.begin(RealtimeConfig(lock_memory=True))
    assert system.locked == [7] and made.faults == []
    monkeypatch.setattr(system, "mlockall", lambda _: -1)
    made.begin(RealtimeConfig(lock_memory=True))
    assert made.faults[0].startswith("realtime.lock_memory has no effect: memory is not locked: ")
    made.end()


@pytest.mark.parametrize(("how", "collections"), [("automatic", 0), ("idle", 1), ("off", 0)])
def test_garbage_is_collected_as_it_says_and_states_make_none(bench, monkeypatch, how, collections):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode, **{"realtime.garbage_collection": how})
    assert gc.isenabled() == (how == "automatic")
    for _ in range(20):
        bench.answer(modes)
    gc.disable()
    gc.collect()
    for k in range(150):
        stamp = bench.stamp()
        node.stream.on_odometry(leg.odometry(stamp, 0.64 - 0.0004 * k), None, None)
        node.stream.on_joint_state(leg.joint_state(stamp), None, None)
        node.executor.spin_once(timeout_sec=0.0)
    while not node.stream.sets.at_rest:
        time.sleep(0.001)
    assert gc.collect() == 0  # nothing that only the collector could free: without it memory does not grow
    done = []
    monkeypatch.setattr(realtime.gc, "collect", lambda: done.append(1))
    node.realtime.idle()
    assert len(done) == collections
    node.trigger_deactivate()
    node.trigger_cleanup()
    gc.enable()


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("realtime.priority", 99, "priority"),
        ("realtime.cpus", [-1], "realtime.cpus has -1"),
        ("realtime.worker_cpus", [0, 4096], "realtime.worker_cpus has 4096"),
        ("realtime.garbage_collection", "sometimes", "one of automatic, idle, off"),
        ("realtime.lock_memry", True, "lock_memory"),
    ],
)
def test_a_setting_that_no_machine_could_make_is_refused_by_name(bench, name, value, word):
    node = bench.start(ContactSuiteNode, configure=False, **{name: value})
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert word in node.startup.why


def test_the_settings_stand_in_the_same_file_as_the_robot_and_are_checked_there():
    data = {"contacts": {"tip": {"link": "finger"}}, "realtime": {"cpus": [2, 3], "priority": 80, "lock_memory": True}}
    config = EstimatorConfig.from_mapping(data)
    assert config.realtime.cores == (2, 3) and config.realtime.worker_cores == ()
    with pytest.raises(ValueError, match=r"unknown parameter realtime\.prio"):
        EstimatorConfig.from_mapping({"realtime": {"prio": 1}})
    with pytest.raises(ValueError, match=r"realtime\.cpus has 0\.5"):
        EstimatorConfig.from_mapping({"realtime": {"cpus": [0.5]}})


def test_waits_become_precise_in_this_thread():
    slack = []

    def measure():
        realtime.precise_waits()
        slack.append(realtime.ctypes.CDLL(None).prctl(30, 0, 0, 0, 0))  # PR_GET_TIMERSLACK

    thread = threading.Thread(target=measure)
    thread.start()
    thread.join()
    assert slack == [1000]
