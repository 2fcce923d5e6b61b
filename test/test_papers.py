"""docs/papers.md names tests, files and functions that exist, and every claim of a table has a test."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "papers.md").read_text()
TESTS = {
    node.name
    for path in (ROOT / "test").rglob("test_*.py")
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
}
FILES = sorted(set(re.findall(r"`([a-z0-9_/]+\.py)", PAGE)))
FOLDERS = sorted(set(re.findall(r"`([a-z0-9_/]+/)`", PAGE)))
NAMES = sorted(set(re.findall(r"`(test_[a-z0-9_]+)`", PAGE)))
SOURCES = "\n".join(path.read_text() for path in (ROOT / "hybrid_contact_ros").rglob("*.py"))


def rows():
    """The rows of all tables as lists of cells, with the paper that the heading above names."""
    paper = ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            paper = line[3:]
        if line.startswith("| ") and not line.startswith("| leap") and "|---" not in line:
            yield paper, [cell.strip() for cell in line.replace("\\|", "∣").strip("|").split("|")]


@pytest.mark.parametrize("name", NAMES)
def test_a_test_that_is_named_exists(name):
    assert name in TESTS


@pytest.mark.parametrize("name", FILES + FOLDERS)
def test_a_file_that_is_named_exists(name):
    assert any((folder / name).exists() for folder in (ROOT, ROOT / "test", ROOT / "hybrid_contact_ros"))


def test_every_claim_has_a_test_or_those_of_the_row_above():
    claims = [(paper, cells) for paper, cells in rows() if len(cells) == 4 and cells[0] != "claim"]
    assert {paper for paper, _ in claims} == {"Halm", "Johnson", "Or", "Pace"}
    for _, cells in claims:
        assert re.search(r"test_|stability/|the same|gallery", cells[-1]), cells


def test_functions_that_are_named_exist():
    for _, cells in rows():
        for name, part in re.findall(r"`([A-Za-z_]+)(?:\.([a-z_]+))?(?:\(…[^`]*\))?`", " ".join(cells[1:])):
            if not name.startswith("test_"):
                known = re.search(rf"\b(def|class) {name}\b", SOURCES)
                assert known or (ROOT / "benchmarks" / f"{name}.py").exists(), name
                assert not part or re.search(rf"^    (def )?{part}\b", SOURCES, re.MULTILINE), f"{name}.{part}"
