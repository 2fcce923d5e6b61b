"""What ``.ci/run`` runs on which processor, from the flags that the processor tells, and which tests are numerical."""

import os
import subprocess
import sys

import pytest

OWN = "those of this machine"
AVX2 = "fpu sse sse2 pni ssse3 sse4_1 sse4_2 avx fma avx2"


@pytest.fixture
def plan_lines(root, tmp_path):
    if not (root / ".venv" / "bin" / "python").exists():
        pytest.skip("there is no .venv: this is for ./run")

    def lines(flags):
        """The lines of the plan on a processor with these flags; None: it tells none; OWN: those of this machine."""
        file = tmp_path / "cpuinfo"
        if flags is not None:
            file.write_text(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n")
        command = [str(root / ".ci" / "run"), "--plan"]
        environment = {**os.environ, "CPUINFO": "/proc/cpuinfo" if flags is OWN else str(file)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
        return [line.removeprefix("[ci] ") for line in done.stdout.splitlines()]

    return lines


@pytest.fixture
def plan(plan_lines):
    def planned(flags):
        """What the plan says of each set of kernels."""
        lines = plan_lines(flags)
        if "not OpenBLAS" in lines[0]:
            pytest.skip("numpy's BLAS here is not OpenBLAS, whose kernels can be chosen")
        assert lines[0].startswith("the whole suite")
        names = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "SkylakeX")
        return {name: line for line in lines[1:] for name in names if f" on {name}" in line}

    return planned


def runs(said):
    """The sets of kernels with tests: those of the whole suite, or others."""
    return {name for name, line in said.items() if "numerical tests on" in line or "whole suite has those" in line}


def test_every_set_of_kernels_is_run_or_it_is_said_why_not(plan):
    said = plan(OWN)
    assert len(said) == 5
    reasons = ("this processor has no ", "OpenBLAS here has no such kernels", "does not tell the processor's flags")
    assert all(any(reason in said[name] for reason in reasons) for name in said.keys() - runs(said))


def test_without_avx512_its_kernels_are_left_out_and_the_missing_flags_are_named(plan):
    said = plan(AVX2)
    assert "this processor has no avx512f avx512cd avx512bw avx512dq avx512vl" in said["SkylakeX"]
    assert runs(said)


def test_where_the_processor_tells_no_flags_only_the_whole_suite_runs(plan):
    for flags in (None, ""):
        said = plan(flags)
        assert len(said) == 5 and not runs(said)
        assert all("does not tell the processor's flags" in line for line in said.values())


def test_every_folder_of_tests_is_numerical_or_said_not_to_be(plan_lines, root):
    """A new folder is numerical by itself; one that was moved or renamed must not leave its old name behind."""
    lines = plan_lines(None)
    said = {name: text.split() for name, _, text in (line.partition(": ") for line in lines)}
    whole, quick, plain = (
        said[f"{name}"] for name in ("all numerical tests", "the quick numerical tests", "not numerical")
    )
    folders = {path.parent for path in (root / "test").rglob("test_*.py")} - {root / "test"}
    folders = {path.relative_to(root / "test").parts[0] for path in folders}
    assert {path.removeprefix("test/") for path in whole} >= folders - set(plain)
    assert not {path.removeprefix("test/") for path in whole} & set(plain)
    assert [name for name in plain if not (root / "test" / name).is_dir()] == []
    assert [path for path in quick if not (root / path).exists()] == []
    assert [path for path in quick if not path.startswith(tuple(f"{folder}" for folder in whole))] == []


def test_a_new_folder_of_tests_is_numerical(root, tmp_path):
    """The plan is made from what is there: in a copy with a further folder, that folder is in it."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_text((root / ".ci" / "run").read_text().replace("bash ./run setup", "true"))
    for name in ("kernels", "ros", "orbits_of_tomorrow"):
        (tmp_path / "test" / name).mkdir(parents=True)
    command = ["bash", str(tmp_path / ".ci" / "run"), "--plan"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "[ci] all numerical tests: test/kernels test/orbits_of_tomorrow\n" in done.stdout


@pytest.fixture
def checked(root, tmp_path):
    """What ``.ci/run`` makes of a project of few tests, which runs them as ``./run test`` does."""
    script = (root / ".ci" / "run").read_text()
    for installing in ("bash ./run setup", "command -v chromium"):
        assert installing in script
        script = script.replace(installing, "true")
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_text(script)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "run").write_text(f'shift; exec "{sys.executable}" -m pytest -n 1 "$@"\n')

    def check(**files):
        for folder, text in files.items():
            (tmp_path / "test" / folder).mkdir(parents=True)
            (tmp_path / "test" / folder / f"test_{folder}.py").write_text(text)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        command = ["bash", str(tmp_path / ".ci" / "run")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout.splitlines()

    return check


ONCE = """
import pathlib
def test_good(): pass
def test_that_fails_once():
    before = pathlib.Path(__file__).with_suffix(".ran")
    if not before.exists():
        before.write_text("")
        assert False
"""


def test_a_test_of_programs_that_failed_beside_others_passes_alone_and_is_named(checked):
    code, lines = checked(ros=ONCE)
    assert code == 0 and lines[-1] == "2 passed, 0 failed, 0 skipped"
    assert any("run once more, alone: test/ros/test_ros.py::test_that_fails_once: " in line for line in lines)


def test_a_test_of_programs_that_fails_twice_fails(checked):
    code, lines = checked(ros="def test_bad(): assert False")
    assert code == 1 and lines[-1] == "0 passed, 1 failed, 0 skipped"


def test_a_test_that_computes_gets_no_second_run(checked):
    code, lines = checked(ros="def test_good(): pass", kernels=ONCE)
    assert code == 1 and lines[-1] == "2 passed, 1 failed, 0 skipped"
    assert not any("once more" in line for line in lines)
