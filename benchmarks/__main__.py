"""``./run bench [NAME ...]``: runs every benchmark of this folder that has a main(), or those named.

Options after a single name are that benchmark's own: ``./run bench latency --rate 1000``.
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


def main() -> int:
    names = available()
    parser = argparse.ArgumentParser(prog="./run bench", description="Measures the suite on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; without any, all of them")
    given = sys.argv[1:]
    own = given[1:] if given and given[0] in names and given[1:2] and given[1].startswith("-") else []
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
