"""The turn: one thread goes first, and waits for one step of the others at most."""

import threading
import time

from hybrid_contact_ros.nodes.turn import Turn


def test_a_thread_that_goes_first_waits_for_one_step_of_the_others_at_most():
    turn, steps, ended = Turn(), [0], threading.Event()
    assert turn.waited_ns == 0
    waited: list[int] = []

    def others():
        while not ended.is_set():
            with turn.last:
                steps[0] += 1
                time.sleep(0.001)

    thread = threading.Thread(target=others)
    thread.start()
    try:
        for _ in range(50):
            before = steps[0]
            with turn:
                waited.append(steps[0] - before)
                during = steps[0]
                time.sleep(0.002)
                assert steps[0] == during
            while steps[0] == during:  # the others go on
                time.sleep(0.0005)
    finally:
        ended.set()
        thread.join()
    # Where this thread had to wait for a processor just before it asked for the turn, the others went on meanwhile.
    assert sorted(waited)[45] <= 1, waited
    so_far = turn.waited_ns
    with turn:
        pass
    assert turn.waited_ns == so_far  # nobody had it


def test_the_time_that_others_take_is_known():
    turn, has = Turn(), threading.Event()

    def other():
        with turn.last:
            has.set()
            while not turn._wanted:
                time.sleep(0.001)
            time.sleep(0.01)

    thread = threading.Thread(target=other)
    thread.start()
    assert has.wait(10.0)
    with turn:
        pass
    thread.join()
    assert turn.waited_ns > 0


def test_the_others_wait_while_it_is_wanted_and_get_it_afterwards():
    turn = Turn()
    turn._wanted = True
    got = threading.Event()

    def other():
        with turn.last:
            got.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert not got.wait(0.1)
    turn._wanted = False
    assert got.wait(10.0)
    thread.join()


def test_a_fault_gives_the_turn_back():
    turn = Turn()
    for way in (turn, turn.last):
        try:
            with way:
                raise ValueError
        except ValueError:
            pass
    with turn:
        pass
