"""A test process that dies costs one test, and the run says how it died (helpers/workers.py)."""

import os
import subprocess
import sys
import textwrap

import pytest

from helpers.workers import LONG, rank

CONFTEST = """
    from conftest_of_the_project import pytest_testnodedown, pytest_xdist_make_scheduler  # noqa: F401
"""
DEADLY = """
    import os, signal, time
    def test_before(): pass
    def test_that_ends_its_process():
        time.sleep(0.3)
        {end}
    def test_after(): pass
"""
PLAIN = """
    import pytest
    @pytest.mark.parametrize("k", range({tests}))
    def test_plain(k): pass
"""


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL ended it"),
        ("os._exit(3)", "it ended by itself, with exit status 3"),
    ],
)
def test_all_other_tests_run_once_and_the_run_ends(tmp_path, root, end, told):
    """With the scheduler of pytest-xdist 3.8 this run never ends: the dead process had finished files before."""
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (tmp_path / "conftest_of_the_project.py").write_text((root / "test" / "conftest.py").read_text())
    for k in range(12):  # larger files go first, so that some are done when the process dies, and some are not begun
        (tmp_path / f"test_long_{k}.py").write_text(textwrap.dedent(PLAIN.format(tests=4)))
        (tmp_path / f"test_short_{k}.py").write_text(textwrap.dedent(PLAIN.format(tests=1 + k % 2)))
    (tmp_path / "test_deadly.py").write_text(textwrap.dedent(DEADLY.format(end=end)))
    arguments = ("-n", "2", "--dist", "loadfile", "-v", "-p", "no:cacheprovider", "--color=no")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "test"), str(root)))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 1
    assert f"is gone: {told}" in run.stderr + run.stdout
    assert f"1 failed, {12 * 4 + 18 + 2} passed" in run.stdout, run.stdout
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1 and "test_deadly.py::test_that_ends_its_process" in failed[0]


def test_files_that_take_long_are_there_and_begin_first(root):
    assert [file for file in LONG if not (root / file).is_file()] == []
    begun = sorted(
        ["test/test_house.py::a", f"{LONG[1]}::test_b[x::y]", "test/test_papers.py::c", f"{LONG[0]}::d"], key=rank
    )
    assert begun == [f"{LONG[0]}::d", f"{LONG[1]}::test_b[x::y]", "test/test_house.py::a", "test/test_papers.py::c"]
