"""The first start: which kernels a configuration needs, what is left of them, and the helper process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.bodies import NO_DEADLINE, NO_TERMS, block
from hybrid_contact_ros import warming
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels import disk_cache, warm
from hybrid_contact_ros.kernels.compiling import DEFERRED
from hybrid_contact_ros.kernels.weights import WEIGHTS

ROOT = Path(__file__).parents[1]


def test_the_weights_name_kernels_that_exist_and_each_once():
    kernels = {name for name, _ in warm.dispatchers()}
    named = [name for part in WEIGHTS.values() for name in part]
    assert set(named) <= kernels, "python -m benchmarks.compile_weights writes the table anew"
    assert len(named) == len(set(named))
    assert all(seconds > 0.0 for part in WEIGHTS.values() for seconds in part.values())


WARMED = """
import sys
from dataclasses import replace
from hybrid_contact_ros import ContactEstimator, EstimatorConfig, Parts, RigidBodyModel, RobotState
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.messages.warming import warm as warm_messages
from hybrid_contact_ros.warming import compile_after_samples, needed
from hybrid_contact_ros.kernels import warm
law, margin, feet = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
config = EstimatorConfig.from_file("config/go2.yaml")
contacts = {name: replace(c, restitution=0.4 * (name in feet)) for name, c in config.contacts.items()}
config = replace(config, contacts=contacts, impact=replace(config.impact, law=law, friction_margin=margin))
model = RigidBodyModel.from_urdf(example_urdf("go2_description/urdf/go2.urdf"), config)
estimator = ContactEstimator(model, config)
q = model.bent()
v = model.neutral()[1:] * 0
v[2] = -1.0
warm_messages()
for parts in (Parts.MODE, Parts.ALL):
    estimator.warm(freeze=True, parts=parts)
    used = {name for name, n in warm.signatures().items() if n}
    print(sorted(used ^ set(needed(model, config, parts, messages=True))))
    try:
        for chosen in ([0, 1, 2, 3], [0, 1], [2, 3], [0], [1], [3], []):
            assert estimator.impact(RobotState(0, q, v), contacts=chosen, deadline_ns=0).velocities.size
        for k in range(20):
            q[2] = 0.5 - 0.005 * k
            estimator.update(RobotState(5_000_000 * k, q, v))
    except TypeError:
        print("frozen")
compile_after_samples(model, config.impact)  # calls kernels as sets do: TypeError otherwise
"""


@pytest.mark.skipif(not DEFERRED, reason="the weights are those of kernels that are emitted within doors only")
@pytest.mark.parametrize(
    "given",
    [
        ("inelastic", "0.0"),
        ("poisson", "0.0"),
        ("inelastic", "0.2", "FL_foot"),
        ("poisson", "0.0", "FL_foot", "FR_foot"),
        ("stronge", "0.0", "FL_foot"),
    ],
    ids=" ".join,
)
def test_warming_loads_the_kernels_that_the_weights_say_and_no_others(given):
    """In a process of its own, by an impact law, a margin of friction, and the feet that have restitution: for a node
    that publishes modes alone, and for one that publishes everything. Afterwards no set of whatever feet is refused."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WARMED, *given]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A part that was not warmed for is an error and no stall; warming for it allows it.
    assert done.stdout.splitlines() == ["[]", "frozen", "[]"], (
        "python -m benchmarks.compile_weights writes the table anew"
    )


def test_each_kind_of_samples_needs_its_own_kernel_and_no_other_part_does():
    """Of impacts alone; what a landing adds has an interval of μ of its own."""
    estimator = block(**NO_DEADLINE, **NO_TERMS)
    config = estimator.config
    inelastic = replace(config, impact=replace(config.impact, law="inelastic", friction_margin=0.0))
    rubbing = replace(config, impact=replace(inelastic.impact, friction_margin=0.2))
    bouncing = replace(config, impact=replace(inelastic.impact, law="poisson", restitution_margin=0.2))
    exact, material = set(WEIGHTS["EXACT"]), set(WEIGHTS["MATERIAL"])
    for config, used, unused in ((inelastic, exact, material), (rubbing, material, exact), (bouncing, material, exact)):
        assert used <= warming.needed(estimator.model, config, Parts.ALL).keys()
        assert unused.isdisjoint(warming.needed(estimator.model, config, Parts.ALL))
        assert used.isdisjoint(warming.needed(estimator.model, config, Parts.ALL & ~Parts.IMPACT))


def test_what_is_left_is_what_the_cache_lacks(monkeypatch):
    there = {"a"}
    monkeypatch.setattr(warming, "stored", there.__contains__)
    left = warming.Left({"a": 5.0, "b": 3.0, "c": 1.0})
    assert left.total == 4.0
    assert left.among({"a": 5.0, "b": 3.0}) == 3.0
    assert left.now()[0] == 0.0
    there.add("b")
    done, seconds = left.now()
    assert done == 0.75
    assert seconds > 0.0
    there.add("c")
    assert left.now() == (1.0, 0.0)
    assert "100 % done, about 0 s left" in left.line()


def test_the_time_left_falls_while_a_large_kernel_is_compiled_and_never_reaches_nothing(monkeypatch):
    clock = iter([0.0, 10.0, 20.0, 30.0, 1000.0])
    monkeypatch.setattr(warming, "stored", lambda _: False)
    monkeypatch.setattr(warming.time, "monotonic", lambda: next(clock))
    left = warming.Left({"large": 30.0, "small": 2.0})
    seconds = [left.now()[1] for _ in range(4)]
    assert seconds[:2] == [22.0, 12.0]
    assert 0.0 < seconds[2] < seconds[1]
    assert seconds[3] == seconds[2]  # a machine that is much slower: see below


@given(st.data())
def test_the_time_left_that_is_told_never_grows_and_is_said_to_be_too_small_where_it_is(data):
    """Kernels of any weights end at any times, in any order, and whoever waits asks at any time in between."""
    weights = {f"k{i}": data.draw(st.floats(0.01, 30.0)) for i in range(data.draw(st.integers(1, 6)))}
    there: set[str] = set()
    clock = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warming, "stored", there.__contains__)
        patch.setattr(warming.time, "monotonic", lambda: clock[0])
        left = warming.Left(weights)
        told = []
        for name in data.draw(st.permutations(list(weights))):
            for _ in range(data.draw(st.integers(0, 3))):
                clock[0] += data.draw(st.floats(0.0, 500.0))
                line = left.line()
                told.append(int(re.search(r"about (\d+) s", line)[1]))
                assert told == sorted(told, reverse=True)
                slow = left._estimate()[1] > 1.2 * left.now()[1]
                assert slow == ("or more" in line)
            there.add(name)
        assert left.now() == (1.0, 0.0)


def test_nothing_is_told_where_nothing_is_missing(monkeypatch):
    monkeypatch.setattr(warming, "stored", lambda _: True)
    told: list[str] = []
    estimator = block(**NO_DEADLINE)
    warming.warm(estimator, "", freeze=False, tell=told.append)
    assert told == []


@pytest.mark.parametrize("processors", [1, 2])
def test_a_helper_needs_a_second_processor_and_enough_work(monkeypatch, processors):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    assert warming._worth_it(20.0, 20.0) == (processors == 2 and DEFERRED)
    assert not warming._worth_it(20.0, 1.0)
    assert not warming._worth_it(1.0, 20.0)


@pytest.mark.parametrize("work", ["import os; os._exit(3)", "import time; time.sleep(600)", "input(); input()"])
def test_a_helper_that_dies_or_hangs_or_never_ends_changes_nothing(monkeypatch, work):
    """It is gone, and waited for, when the block ends; an error of the block comes through."""
    monkeypatch.setattr(warming, "_CHILD", work)
    monkeypatch.setattr(warming, "_PATIENCE", 0.2)
    children = []
    started = warming._start
    monkeypatch.setattr(warming, "_start", lambda *args: children.append(started(*args)) or children[0])
    with pytest.raises(KeyError), warming._helped(block(**NO_DEADLINE).config, "<robot/>"):
        raise KeyError
    assert children[0].returncode is not None


def beside(kernels=(), ended=lambda: False):
    return warming.compile_beside(block(**NO_DEADLINE).config, "<robot/>", warming.Parts.SENSITIVITY, kernels, ended)


def test_what_is_compiled_beside_is_waited_for_and_looked_for_in_the_cache(monkeypatch):
    monkeypatch.setattr(warming, "_CHILD", "import time; time.sleep(0.5)")
    monkeypatch.setattr(warming, "stored", lambda name: name != "modes.nowhere")
    assert beside(["modes.there"])
    assert not beside(["modes.there", "modes.nowhere"])


def test_what_is_compiled_beside_is_given_up_when_it_is_not_wanted_any_more(monkeypatch):
    monkeypatch.setattr(warming, "_CHILD", "import sys; sys.stdin.buffer.read(); sys.stdin.buffer.read()")
    looks = iter([False, False, True, True])
    assert not beside(ended=lambda: next(looks))


def test_only_sensitivities_are_put_off_and_only_where_a_process_can_compile_them(monkeypatch):
    thing = block(**NO_DEADLINE)
    asked = (thing.model, thing.config, warming.Parts.ALL | warming.Parts.SENSITIVITY)
    monkeypatch.setattr(warming, "_can_help", lambda: True)
    monkeypatch.setattr(warming, "stored", lambda name: False)
    assert warming.postponed(*asked) == warming.Parts.SENSITIVITY
    assert not warming.postponed(thing.model, thing.config, warming.Parts.ALL)
    monkeypatch.setattr(warming, "_can_help", lambda: False)
    assert not warming.postponed(*asked)
    monkeypatch.setattr(warming, "_can_help", lambda: True)
    monkeypatch.setattr(warming, "stored", lambda name: True)
    assert not warming.postponed(*asked)


def test_a_helper_ends_with_the_process_that_started_it(tmp_path):
    """Its standard input is closed then, even where nothing was written to it."""
    code = (
        "import sys, threading, os\n"
        "from hybrid_contact_ros import warming\n"
        "warming.pickle.load = lambda _: (None, None, 0, False)\n"
        "warming.RigidBodyModel.from_urdf = lambda *_: threading.Event().wait(600)\n"
        "warming.help_out()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(300.0) == 0


@pytest.mark.skipif(disk_cache.fcntl is None, reason="no locks of files on this system")
def test_two_processes_never_compile_the_same_kernel_twice(tmp_path):
    """Both call it at once; the second one finds it in the cache."""
    (tmp_path / "slow.py").write_text(
        "from hybrid_contact_ros.kernels.compiling import kernel\n@kernel\ndef once(x):\n    return 2.0 * x\n"
    )
    code = (
        "import sys\n"
        "from slow import once\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "assert once(3.0) == 6.0\n"
        "print(sum(once.stats.cache_misses.values()))\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    two = [subprocess.Popen(command, env=environment, **pipes) for _ in range(2)]
    for process in two:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in two:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    misses = [int(process.communicate()[0]) for process in two]
    assert sorted(misses) == ([0, 1] if DEFERRED else misses)
