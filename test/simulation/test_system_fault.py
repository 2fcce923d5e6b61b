"""Whose error it was: what the user's system raises ends an execution; what our own code raises propagates."""

import dataclasses

import numpy as np
import pytest

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation import (
    alternating_chatter,
    event_watcher,
    guards,
    mode_integration,
    resets,
    run,
    transition,
    zeno,
    zeno_bookkeeping,
)
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionStatus
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.simulation.system_fault import GuardedSystem, SystemFault, guarded
from hybrid_contact_ros.stability.truncation import reliable_truncation
from hybrid_contact_ros.systems.lagrangian import LagrangianSystem

GRAVITY = 9.81
START = ([0.0, 0.5], [1.0, 0.0])
CALLBACKS = ("problem", "gap", "configuration_rate", "integrate", "limb_acceleration")


class Point:
    """A bouncing point (x, y) with every callback there is; ``spoil(name, answer)`` sees each answer."""

    def __init__(self, spoil=lambda name, answer: answer, mass=(1.0, 1.0)):
        self.spoil, self.mass = spoil, np.diag(mass)

    def problem(self, q, v, time=0.0, mode=frozenset()):
        bias = [-2.0, self.mass[1, 1] * GRAVITY]
        answer = ContactProblem(self.mass, v, [[0, 1.0]], [[[1.0, 0]]], [0.3], [0.5], gap=[q[1]], bias_force=bias)
        return self.spoil("problem", answer)

    def gap(self, q):
        return self.spoil("gap", np.array([q[1]]))

    def configuration_rate(self, q, v):
        return self.spoil("configuration_rate", np.array(v))

    def integrate(self, q, step):
        return self.spoil("integrate", np.asarray(q) + step)

    def limb_acceleration(self, q, v, time, mode):
        return self.spoil("limb_acceleration", np.zeros(2))


def calls_of(name, **more):
    """How often a clean simulation asks for an answer, and what it finds."""
    count = 0

    def counting(asked, answer):
        nonlocal count
        count += asked == name
        return answer

    return simulate(Point(counting, **more), *START, 0.6), count


def spoiled(name, after, change):
    """From its ``after``-th answer on, a callback answers ``change(answer)``."""
    count = 0

    def spoil(asked, answer):
        nonlocal count
        count += asked == name
        return change(answer) if asked == name and count >= after else answer

    return spoil


def lost(answer):
    raise LookupError("off the map")


def assert_begins_as(execution, clean):
    """The execution is the beginning of the clean one."""
    n = len(execution.times) - 1  # the last state may be of an instant that the clean execution has no interval for
    np.testing.assert_array_equal(execution.times[:n], clean.times[:n])
    np.testing.assert_array_equal(execution.q[:n], clean.q[:n])


@pytest.mark.parametrize("part", [0.02, 0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("name", CALLBACKS[:4])
def test_a_callback_that_raises_at_any_time_ends_the_execution_with_its_message(name, part):
    clean, count = calls_of(name)
    assert clean.status is ExecutionStatus.FINISHED and count > 20
    execution = simulate(Point(spoiled(name, max(6, int(part * count)), lost)), *START, 0.6)
    assert execution.status is ExecutionStatus.DIVERGED
    assert execution.why == "LookupError: off the map"
    assert_begins_as(execution, clean)


class Towed:
    """A mass (x, y) that falls, with a limb (angle) without mass that no contact sees."""

    def __init__(self, answer):
        self.limb_acceleration = answer

    def problem(self, q, v):
        mass = np.diag([1.0, 1.0, 0.0])
        return ContactProblem(mass, v, [[0, 1.0, 0]], [[[1.0, 0, 0]]], [0.0], gap=[q[1]], bias_force=[0, GRAVITY, 0])


def test_limbs_without_mass_that_raise_end_the_execution_too():
    def limb(q, v, time, mode):
        if time > 0.1:
            raise LookupError("no such limb")
        return np.zeros(3)

    execution = simulate(Towed(limb), [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], 0.4)
    assert execution.status is ExecutionStatus.DIVERGED
    assert execution.why == "LookupError: no such limb"
    execution = simulate(Towed(lambda q, v, time, mode: [np.nan] * 3), [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], 0.4)
    assert execution.status is ExecutionStatus.DIVERGED and "not finite" in execution.why


@pytest.mark.parametrize("member", ["mass", "bias_force", "normal_jacobian", "tangent_jacobian", "gap", "friction"])
def test_an_answer_that_is_not_finite_ends_the_execution_and_is_named(member):
    def broken(problem):
        values = {f.name: getattr(problem, f.name) for f in dataclasses.fields(problem)}
        return ContactProblem.trusted(**{**values, member: np.full_like(values[member], np.nan)})

    _, count = calls_of("problem")
    execution = simulate(Point(spoiled("problem", count // 2, broken)), *START, 0.6)
    assert execution.status is ExecutionStatus.DIVERGED
    assert f"{member} of the contact problem has an entry that is not finite" in execution.why
    assert 0.0 < execution.times[-1] < 0.6


def test_a_problem_of_another_size_or_none_at_all_ends_the_execution():
    _, count = calls_of("problem")
    for change, why in ((lambda problem: problem.select([]), "0 contacts"), (lambda problem: None, "NoneType")):
        execution = simulate(Point(spoiled("problem", count // 2, change)), *START, 0.6)
        assert execution.status is ExecutionStatus.DIVERGED and why in execution.why


class FlatPoint:
    """The same point with v = q̇, for which truncation is judged: it bounces, slides, and comes to rest."""

    def problem(self, q, v):
        bias = [0.0, GRAVITY]
        return ContactProblem(np.eye(2), v, [[0, 1.0]], [[[1.0, 0]]], [0.3], [0.3], gap=[q[1]], bias_force=bias)


def test_what_the_system_refuses_around_a_chatter_leaves_that_chatter_alone(monkeypatch):
    """Truncation asks for states that the execution does not reach."""
    refusing, judged = [], []

    class Fenced(FlatPoint):
        def problem(self, q, v):
            if refusing:
                raise LookupError("nobody has been there")
            return super().problem(q, v)

    def judge(*args, **named):
        judged.append(refusing.append(True))
        try:
            return reliable_truncation(*args, **named)
        finally:
            refusing.clear()

    monkeypatch.setattr(zeno, "reliable_truncation", judge)
    followed = simulate(FlatPoint(), *START, 0.6)
    execution = simulate(Fenced(), *START, 0.6, truncation=Tolerances(0.1, 0.1, 1e-9))
    assert judged and execution.status is ExecutionStatus.FINISHED
    np.testing.assert_array_equal(execution.times, followed.times)


PLANTED = [
    (transition, "change_of_mode"),
    (transition.Transitions, "settle"),
    (guards, "force_scale"),
    (guards.Guards, "select"),
    (resets, "impact"),
    (resets.Resets, "project"),
    (event_watcher.EventWatcher, "first"),
    (event_watcher, "brentq"),
    (mode_integration, "_local_error"),
    (mode_integration.ModeIntegration, "rising"),
    (run.ModeIntegration, "advance"),
    (zeno, "reliable_truncation"),
    (zeno_bookkeeping, "came_to_rest"),
    (zeno_bookkeeping, "truncate_bounces"),
    (zeno_bookkeeping, "alternating_chatter_end"),
    (alternating_chatter, "limit_of"),
]


@pytest.mark.parametrize(("owner", "name"), PLANTED, ids=[name for _, name in PLANTED])
@pytest.mark.parametrize("error", [RuntimeError, ValueError])
def test_a_bug_of_ours_is_never_called_a_divergence(monkeypatch, owner, name, error):
    def bug(*_args, **_named):
        raise error("planted")

    monkeypatch.setattr(owner, name, bug)
    with pytest.raises(error, match=r"^planted$"):
        simulate(FlatPoint(), *START, 3.0, truncation=Tolerances(1e-6, 1e-6, 1e-6))


def test_a_fault_keeps_its_cause_and_passes_once():
    cause = KeyError("joint")

    def fails():
        raise cause

    with pytest.raises(SystemFault) as caught:
        guarded(guarded(fails))()
    assert caught.value.__cause__ is cause
    assert str(caught.value) == "KeyError: 'joint'"


def test_a_guarded_system_is_of_its_class_and_what_is_asked_later_raises_as_the_system_does():
    system = GuardedSystem(LagrangianSystem.__new__(LagrangianSystem), 1, 1)
    assert isinstance(system, LagrangianSystem)
    adapted = AdaptedSystem(Point(), *START)
    assert isinstance(adapted.guarded().system, Point) and adapted.guarded() is not adapted
    sick = Point()
    execution = simulate(sick, *START, 0.2)
    sick.spoil = lambda name, answer: lost(answer)
    with pytest.raises(LookupError):
        execution.at(0.1234567)
