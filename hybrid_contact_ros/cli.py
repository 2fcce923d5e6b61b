"""``hybrid-contact VERB``. Each verb has a module with ``add_arguments(parser)`` and ``run(args) -> int``. The module
is imported when the verb is used, so that ``--help`` is quick and a verb needs only the packages that it uses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from hybrid_contact_ros import __version__

VERBS = {
    "demo": ("hybrid_contact_ros.commands.demo", "a simulated robot dog, the nodes, and a live table"),
    "watch": ("hybrid_contact_ros.commands.watch", "what running suites say, live in a terminal"),
    "replay": ("hybrid_contact_ros.commands.replay", "predictions and scores from a rosbag2 recording"),
    "score": ("hybrid_contact_ros.commands.score", "what predictions were worth, against any truth in a recording"),
    "compare": ("hybrid_contact_ros.commands.compare", "results of the same recording beside each other"),
    "report": ("hybrid_contact_ros.commands.report_html", "a result file as one page for a browser, and as figures"),
    "fleet": ("hybrid_contact_ros.commands.fleet", "many recordings scored on many processors, into one dataset"),
    "identify": ("hybrid_contact_ros.commands.identify", "restitution and friction from a recording of impacts"),
    "convert": ("hybrid_contact_ros.commands.convert", "published recordings (.npz) into rosbag2"),
    "configure": ("hybrid_contact_ros.commands.configure", "a parameter file to begin with, from a URDF's shapes"),
    "check": ("hybrid_contact_ros.commands.check", "a URDF and a configuration as the suite sees them"),
}
"""Module and help of each verb."""

FAILED = 2
"""Exit code where the input cannot be used; argparse has the same for the arguments."""

PIPE_CLOSED = 141
"""Exit code where nobody reads the pipe any more that the program writes into (128 + SIGPIPE, as other programs
have)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb.

    Returns:
        the exit code. Input that cannot be used ends in one line on stderr, or with ``--debug`` in a traceback.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = next((a for a in arguments if not a.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="hybrid-contact",
        description="Hybrid rigid-body contact models as a real-time predictor.",
        epilog="`hybrid-contact VERB --help` tells the arguments of a verb.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    debug = "--debug" in arguments
    run = None
    try:
        for name, (module, text) in VERBS.items():
            sub = verbs.add_parser(name, help=text, description=text)
            sub.add_argument("--debug", action="store_true", help="show tracebacks")
            if name == verb:
                home = import_module(module)
                home.add_arguments(sub)
                run = home.run
        args = parser.parse_args(arguments)
        assert run is not None  # argparse has refused every other verb
        code = int(run(args))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the next program has read enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise Python complains when it ends
        return PIPE_CLOSED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        if debug or (isinstance(error, ModuleNotFoundError) and _ours(error)):
            raise
        print(f"hybrid-contact {verb}: {_sentence(error)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130


def _ours(error: ModuleNotFoundError) -> bool:
    """Whether a module of the suite itself is missing, which is a fault of the suite and not of the set-up."""
    return (error.name or "").partition(".")[0] == "hybrid_contact_ros"


def _sentence(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: a package that this verb needs is not installed"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
