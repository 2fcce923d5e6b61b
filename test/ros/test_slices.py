"""Short slices are asked for where Linux has them, and nothing else about a thread changes."""

import os
import threading

import pytest

from hybrid_contact_ros.ros.slices import SLICE_NS, short_slices, slice_ns

known = pytest.mark.skipif(not slice_ns(), reason="this kernel has no slices of its own for each thread (Linux 6.12)")


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@known
def test_a_thread_and_those_it_starts_have_short_slices_and_others_keep_theirs():
    before = slice_ns()

    def work():
        assert short_slices()
        return slice_ns(), in_a_thread(slice_ns)

    assert in_a_thread(work) == (SLICE_NS, SLICE_NS)
    assert slice_ns() == before


@known
def test_the_priority_of_the_thread_stays():
    def work():
        me = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, me, 7)
        assert short_slices(me) and slice_ns(me) == SLICE_NS
        return os.getpriority(os.PRIO_PROCESS, me), os.sched_getscheduler(me)

    assert in_a_thread(work) == (7, os.SCHED_OTHER)


def test_an_unknown_machine_or_thread_is_no_error(monkeypatch):
    assert not short_slices(2**30)
    assert slice_ns(2**30) is None
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    assert not short_slices()
    assert slice_ns() is None
