"""Every example in a docstring runs, and prints what the docstring says that it prints."""

import doctest
import importlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "hybrid_contact_ros"
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if "\n    >>> " in path.read_text() or "\n        >>> " in path.read_text()
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(name)
    written = sum(len(found.examples) for found in doctest.DocTestFinder().find(module))
    assert written > 0, "its examples are not found: are they in a docstring?"
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples differ; see the output above"
