"""The first start on a machine: two processes compile the kernels, and whoever waits is told what is left.

``ContactEstimator.warm`` compiles everything that a configuration needs, and finds in the cache what was compiled
before. Where much is missing and the process may use two processors, a helper process begins with the kernels of impact
sets meanwhile, and the warming finds them in the cache. Those of sensitivities are left to a process of their own. A
lock for each kernel (:mod:`hybrid_contact_ros.kernels.disk_cache`) keeps two processes from compiling the same one.
Nothing depends on the helper: whatever it leaves undone, because it died or never started, is compiled here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from math import inf

import numpy as np

from hybrid_contact_ros import kernels
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import EstimatorConfig, ImpactConfig
from hybrid_contact_ros.estimation.impact import draws_material, impact_law, landing_of
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.sampler import Samples
from hybrid_contact_ros.kernels.compiling import DEFERRED, undisturbed
from hybrid_contact_ros.kernels.impacts.records import SAMPLE_COLUMNS
from hybrid_contact_ros.kernels.warm import enable_compilation, stored
from hybrid_contact_ros.kernels.weights import WEIGHTS
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

_WORTH_A_PROCESS = 4.0  # s of either process's share: a new one takes two until it compiles anything
_PATIENCE = 5.0  # s that the helper has to end
_PERIOD = 3.0  # s between two reports
_LOOKED = 0.1  # s between two looks at a helper that nobody waits for
_TRUSTED = 3.0  # s
_MOSTLY = 0.9
_SLOWER = 1.2  # times what was told
_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from hybrid_contact_ros.warming import help_out; help_out()"


def needed(model: RigidBodyModel, config: EstimatorConfig, parts: Parts, messages: bool = False) -> dict[str, float]:
    """The kernels that these parts of a prediction need, and those of messages if so, with the seconds that each takes
    to compile (:mod:`hybrid_contact_ros.kernels.weights`)."""
    steps = [part.name for part in Parts if part in parts and part.name in WEIGHTS]
    if Parts.IMPACT in parts:
        law, terms = impact_law(config.impact, model.restitution), LandingTerms.of(config.landing)
        steps.append(
            "MATERIAL" if draws_material(law, config.impact, terms) else "EXACT"
        )  # samples of either kind have a kernel of their own
    if messages:
        steps.append("MESSAGES")
    return {name: seconds for step in steps for name, seconds in WEIGHTS[step].items()}


class Left:
    """What is still to be compiled of kernels, given with the seconds that each takes, that were missing in the cache
    when this was made.

    It looks at the files of the cache, and so counts what any process has compiled. The time that is told never grows:
    where a machine turns out to be slower than it seemed, the number stands still, and is told to be too small.
    """

    def __init__(self, kernels: dict[str, float]) -> None:
        self._missing = {name: seconds for name, seconds in kernels.items() if not stored(name)}
        self._begin = self._since = time.monotonic()
        self._done = 0.0  # seconds of work that were done at _since
        self.total = sum(self._missing.values())
        self._told = inf  # s

    def among(self, kernels: dict[str, float]) -> float:
        """Seconds of work on those of ``kernels`` that were missing."""
        return sum(self._missing.get(name, 0.0) for name in kernels)

    def now(self) -> tuple[float, float]:
        """Which part of the work is done, between 0 and 1, and how many seconds the rest will take."""
        done, seconds = self._estimate()
        self._told = min(self._told, seconds)
        return done, self._told

    def _estimate(self) -> tuple[float, float]:
        """The same by the rate until now alone."""
        missing = [seconds for name, seconds in self._missing.items() if not stored(name)]
        rest, now = sum(missing), time.monotonic()
        done = self.total - rest
        if done > self._done:
            self._done, self._since = done, now
        # Half of all work is one kernel: as long as it may be at work, so much of it is taken for done.
        begun = min(now - self._since, _MOSTLY * max(missing, default=0.0))
        # As if _TRUSTED seconds of work had been done in as many: the first few kernels say little of the machine.
        rate = (now - self._begin + _TRUSTED) / (done + begun + _TRUSTED)
        return (done / self.total if self.total else 1.0), (rest - begun) * rate

    def line(self) -> str:
        """A sentence on it."""
        part, seconds = self._estimate()
        self._told = min(self._told, seconds)
        more = " or more" if seconds > _SLOWER * self._told else ""
        return f"compiling the kernels, once on a machine: {100 * part:.0f} % done, about {self._told:.0f} s{more} left"


def warm(
    estimator: ContactEstimator,
    urdf: str,
    parts: Parts = Parts.ALL,
    freeze: bool = True,
    tell: Callable[[str], object] | None = None,
    messages: Callable[[], object] | None = None,
) -> None:
    """:meth:`ContactEstimator.warm` with a helper process where that is quicker.

    Args:
        estimator, parts, freeze: as there. urdf: the text that the estimator's model was made from.
        tell: called every few seconds with a sentence on what is left, from another thread, while kernels are compiled
            that the cache does not have.
        messages: compiles the kernels of messages too, where they are needed: ``hybrid_contact_ros.messages.warming``.
    """
    model, config = estimator.model, estimator.config
    left = Left(needed(model, config, parts, messages is not None))
    theirs = left.among(needed(model, config, parts & Parts.IMPACT))
    shared = _worth_it(theirs, left.total - theirs)
    with _helped(config, urdf) if shared else nullcontext(), _telling(left, tell):
        if messages is not None:
            enable_compilation()  # another robot of this process may have frozen them
            with undisturbed():
                messages()
        if shared:
            estimator.warm(parts=parts & ~Parts.IMPACT)
            with undisturbed():
                compile_after_samples(model, config.impact)
        estimator.warm(freeze=freeze, parts=parts)


def compile_after_samples(model: RigidBodyModel, config: ImpactConfig) -> None:
    """Compile what a set needs before and after its samples, without samples: the helper process is at the large kernel
    that draws them when this one has nothing else to do."""
    problem = model.problem(RobotState(0, model.bent(), np.zeros(model.nv)))
    landing = landing_of(problem, impact_law(config, model.restitution), config)
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    landing.prepare(problem.mass, rows, problem.velocity, np.arange(problem.contacts), config.seed)
    landing.gather(Samples(np.zeros((2, landing.space.w.size)), np.ones((2, SAMPLE_COLUMNS)), Status.SOLVED))


def postponed(model: RigidBodyModel, config: EstimatorConfig, parts: Parts) -> Parts:
    """Of these parts that which a node can go without at first: SENSITIVITY, where its kernels are not all in the cache
    and a process of their own can compile them. They take about as long as all others together."""
    parts &= Parts.SENSITIVITY
    there = all(stored(name) for name in needed(model, config, parts))
    return Parts(0) if there or not _can_help() else parts


def compile_beside(
    config: EstimatorConfig, urdf: str, parts: Parts, kernels: Iterable[str], ended: Callable[[], bool]
) -> bool:
    """Compile what parts need in a process that gets what all others leave of the processors, and wait for that.

    Args:
        urdf: of the robot. kernels: names of those that are needed. ended: asked now and then whether to give up.

    Returns:
        Whether all of them are in the cache.
    """
    with _helped(config, urdf, parts, idle=True) as child:
        while child is not None and child.poll() is None and not ended():
            time.sleep(_LOOKED)
    return not ended() and all(stored(name) for name in kernels)


@contextmanager
def _telling(left: Left, tell: Callable[[str], object] | None) -> Iterator[None]:
    if tell is None or not left.total:
        yield
        return
    over = threading.Event()

    def repeat() -> None:
        while left.now()[0] < 1.0:
            tell(left.line())
            if over.wait(_PERIOD):
                return

    teller = threading.Thread(target=repeat, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _worth_it(theirs: float, ours: float) -> bool:
    """Whether to share work of so many seconds with a helper process."""
    return _can_help() and min(theirs, ours) >= _WORTH_A_PROCESS


def _can_help() -> bool:
    """Whether another process can compile for this one, and has a processor for it."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shared = DEFERRED and None not in kernels.CACHE_DIRECTORIES.values()
    return bool(shared and sys.executable and processors > 1)


@contextmanager
def _helped(
    config: EstimatorConfig, urdf: str, parts: Parts = Parts.IMPACT, idle: bool = False
) -> Iterator[subprocess.Popen[bytes] | None]:
    """A helper process for these parts, while the block runs; None where there can be none."""
    child = None
    with suppress(OSError):
        child = _start(config, urdf, parts, idle)
    try:
        yield child
    finally:
        if child is not None:
            _end(child)


def _start(config: EstimatorConfig, urdf: str, parts: Parts, idle: bool) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the node, whose end is also that of the helper
    )
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        pickle.dump((config, urdf, int(parts), idle), child.stdin)
        child.stdin.flush()
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.close()
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def help_out() -> None:
    """The helper process: compile what it is asked for. It ends at once with the process that started it, which holds
    the other end of its standard input."""
    config, urdf, parts, idle = pickle.load(sys.stdin.buffer)
    if idle:  # also where the process that started it runs before all others
        with suppress(OSError, AttributeError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def follow() -> None:
        sys.stdin.buffer.read(1)
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()
    ContactEstimator(RigidBodyModel.from_urdf(urdf, config), config).warm(parts=Parts(parts))
    os._exit(0)  # nothing is left to be put in order, and the thread above reads for ever
