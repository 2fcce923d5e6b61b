"""What all tests share: a ROS domain of their own, reproducible draws, inputs an ulp off, the reference recordings."""

import atexit
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers.recordings import fall, shared_file, walker, without_model  # noqa: F401  (fixtures of several folders)
from hybrid_contact_ros.ros.domain import claim_domain

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run, so that a test that passed on one machine passes on the next. No deadline: a kernel
# may be compiled within an example. New examples, and more of them where a test does not say how many, come with
# HYPOTHESIS_PROFILE=nightly; a failure prints what brings it back.
_WITHOUT_A_CLOCK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", **_WITHOUT_A_CLOCK, derandomize=True)
settings.register_profile("nightly", **_WITHOUT_A_CLOCK, derandomize=False, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


_domain, _claim = claim_domain()  # per process: xdist workers each import this file
os.environ["ROS_DOMAIN_ID"] = str(_domain)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(ROOT / "config" / "fastdds_discovery.xml"))

_log_directory = tempfile.mkdtemp(prefix="hybrid_contact_test_log_")
atexit.register(shutil.rmtree, _log_directory, ignore_errors=True)
os.environ["ROS_LOG_DIR"] = _log_directory  # the home directory may not be writable


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference recordings and published numbers, which are not part of the project."""
    path = Path(os.environ.get("HYBRID_CONTACT_SHARED") or ROOT.parent / "shared")
    if not (path / "data").is_dir():
        pytest.skip(f"no reference data in {path}: name its folder in HYBRID_CONTACT_SHARED")
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="module", params=["given", "nudged"])
def rounding(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run what uses it twice: with its contact problems as they are, and with the numbers of them off by an ulp."""
    from helpers.rounding import nudged_problems  # here, so that tests without numerics start without them

    with nudged_problems() if request.param == "nudged" else nullcontext():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first, so that no process of ``./run test`` is left alone with one of them."""
    from helpers.workers import rank

    items.sort(key=lambda item: rank(item.nodeid))  # stable: all else stays in its order


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The matrix of faults (test/ros/test_fault_matrix.py), where its tests ran, and the files that took longest."""
    stats = terminalreporter.stats.values()
    reports = [report for group in stats for report in group if isinstance(report, pytest.TestReport)]
    called = [report for report in reports if report.when == "call"]
    rows = [row for report in called for key, row in report.user_properties if key == "fault"]
    if rows:
        terminalreporter.section("faults: what was sent | answered meanwhile | what was said | recovered")
        for row in sorted(rows):
            terminalreporter.write_line(" | ".join((*row[:3], row[3][:200], *row[4:])))
    took: Counter[str] = Counter()
    for report in reports:
        took[report.nodeid.partition("::")[0]] += report.duration
    if sum(took.values()) > 60.0:
        terminalreporter.section("files that took longest, s")
        terminalreporter.write_line(", ".join(f"{file} {seconds:.0f}" for file, seconds in took.most_common(20)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Only for ``--dist loadfile``, as ``./run test`` has it; another choice is left to pytest-xdist."""
    from helpers.workers import Scheduling

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """A process that died without a word is at least told apart from one that was killed."""
    if error is not None:
        from helpers.workers import end_of

        print(f"\nthe test process {node.gateway.id} is gone: {end_of(node)}", file=sys.__stderr__, flush=True)


@pytest.fixture(autouse=True)
def compilation_allowed() -> Iterator[None]:
    """A test that configures an estimator freezes the kernels; the next one may need others of them."""
    yield
    if "hybrid_contact_ros.kernels.warm" in sys.modules:
        sys.modules["hybrid_contact_ros.kernels.warm"].enable_compilation()
