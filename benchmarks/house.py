"""Facts about the sources, as docs/architecture.md quotes them: ``./run bench house [PACKAGE]``.

It counts files (without ``__init__.py``) and their lines, functions with many positional arguments, long functions, and
layering contracts. PACKAGE is the folder of the package, by default that of this checkout; the folder of another
revision gives the facts of that revision. ``-v`` also lists what is over a goal.
"""

from __future__ import annotations

import argparse
import ast
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KERNELS = "hybrid_contact_ros.kernels"
LARGE_FILE, LONG_FUNCTION, MANY_ARGUMENTS = 350, 80, 10


class Function(NamedTuple):
    """One function or method of the package."""

    place: str
    name: str
    arguments: int
    """Positional ones, without ``self``; arguments that can only be given by keyword are not counted."""
    lines: int
    code_lines: int
    """Lines without the docstring."""
    door: bool
    """Whether it is a kernel that Python outside of ``kernels/`` calls."""


def doors(package: Path) -> set[tuple[str, str]]:
    """(module, name) of every kernel that a module outside of ``kernels/`` imports or takes as an attribute."""
    found = set()
    for path in package.rglob("*.py"):
        if "kernels" in path.relative_to(package).parts:
            continue
        tree = ast.parse(path.read_text())
        modules = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(KERNELS):
                for alias in node.names:
                    found.add((node.module, alias.name))
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                found.add((modules[node.value.id], node.attr))
    return found


def functions(package: Path) -> Iterator[Function]:
    """Every function of the package."""
    called = doors(package)
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package.parent).with_suffix("")
        module = ".".join(place.parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
                count = len(names) - (names[:1] in (["self"], ["cls"]))
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                first = node.body[0]
                docstring = ast.get_docstring(node) is not None
                text = (first.end_lineno or first.lineno) - first.lineno + 1 if docstring else 0
                yield Function(str(place), node.name, count, lines, lines - text, (module, node.name) in called)


def contracts(root: Path) -> int:
    """Layering contracts that import-linter holds, as pyproject.toml writes them."""
    return (root / "pyproject.toml").read_text().count("[[tool.importlinter.contracts]]")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench house", description="Counts the sources.")
    parser.add_argument("package", nargs="?", type=Path, default=ROOT / "hybrid_contact_ros")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is over a goal")
    options = parser.parse_args()
    package = options.package.resolve()
    files = [
        (len(p.read_text().splitlines()), str(p.relative_to(package.parent)))
        for p in package.rglob("*.py")
        if p.name != "__init__.py"
    ]
    all_of_them = list(functions(package))
    many = [f for f in all_of_them if f.arguments >= MANY_ARGUMENTS]
    inner = [f for f in many if not f.door]
    long = [f for f in all_of_them if f.lines > LONG_FUNCTION]
    longest = max(all_of_them, key=lambda f: f.lines)
    longest_code = max(all_of_them, key=lambda f: f.code_lines)
    large = [f for f in files if f[0] > LARGE_FILE]
    facts = {
        "files": len(files),
        "median, largest file": f"{statistics.median(n for n, _ in files):g}, {max(files)[0]} lines",
        f"files over {LARGE_FILE} lines": len(large),
        f"functions of {MANY_ARGUMENTS} or more arguments": f"{len(many)}, of which doors {len(many) - len(inner)}",
        "longest function, with docstring": f"{longest.lines} lines ({longest.name})",
        "longest function, code alone": f"{longest_code.code_lines} lines ({longest_code.name})",
        f"functions over {LONG_FUNCTION} lines, code alone": sum(f.code_lines > LONG_FUNCTION for f in long),
        "layering contracts": contracts(package.parent),
    }
    for name, value in facts.items():
        print(f"{name:38} {value}")
    if options.verbose:
        for size, name in sorted(large, reverse=True):
            print(f"  {size:4d} lines      {name}")
        for f in sorted(inner, key=lambda f: -f.arguments):
            print(f"  {f.arguments:4d} arguments  {f.place} {f.name}")
        for f in sorted(long, key=lambda f: -f.code_lines):
            print(f"  {f.code_lines:4d} of {f.lines} lines without docstring  {f.place} {f.name}")


if __name__ == "__main__":
    main()
