"""``./run bench [NAME ...]``: runs every benchmark of this folder that has a main(), or those named.

Options after a single name are that benchmark's own: ``./run bench latency --rate 1000``. So is whatever follows a
benchmark that takes arguments, unless it is the name of another one: ``./run bench modes_campaign 10000``.
"""

import argparse
import ast
import importlib
import sys
import time
from pathlib import Path

from hybrid_contact_ros.kernels.warm import enable_compilation

FOLDER = Path(__file__).resolve().parent


def available() -> list[str]:
    """Names of the modules here with a top-level main(), found without importing them."""
    names = []
    for path in sorted(FOLDER.glob("[!_]*.py")):
        body = ast.parse(path.read_text()).body
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in body):
            names.append(path.stem)
    return names


def takes_arguments(name: str) -> bool:
    """Whether a benchmark looks at the command line, and so refuses what it does not know."""
    return "sys.argv" in (text := (FOLDER / f"{name}.py").read_text()) or "parse_args" in text


def own_arguments(given: list[str], names: list[str]) -> list[str]:
    """The arguments that are those of a single benchmark, which comes first."""
    if len(given) < 2 or given[0] not in names:
        return []
    ours = given[1] in names or not (given[1].startswith("-") or takes_arguments(given[0]))
    return [] if ours else given[1:]


def main() -> int:
    names = available()
    parser = argparse.ArgumentParser(prog="./run bench", description="Measures the suite on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; without any, all of them")
    given = sys.argv[1:]
    own = own_arguments(given, names)
    chosen = parser.parse_args(given[: len(given) - len(own)]).names or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(names)}")
    sys.argv = [sys.argv[0], *own]  # a benchmark may parse arguments of its own
    for name in chosen:
        print(f"\n== {name} ==", flush=True)
        start = time.perf_counter()
        enable_compilation()  # the one before may have frozen kernels that this one has other uses for
        importlib.import_module(f"benchmarks.{name}").main()
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
