"""Entry points of the executables. They are small on purpose, and catch Ctrl-C before anything large is imported.

Importing numba, Pinocchio and rclpy takes seconds. An interrupt meanwhile would end in a traceback from wherever it
struck, or in an import that fails for no visible reason. Nothing needs an orderly end by then.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from threading import Timer

INTERRUPTED = 130
"""Exit code of a command that was interrupted (128 + SIGINT, as a shell has). Nodes end with 0."""
_OF_ROS = {"rclpy", "rcl_interfaces", "builtin_interfaces"}  # and all that ends in _msgs or _srvs


def _leave_quietly(code: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(code))


def _one_thread() -> None:
    """Before numpy is imported: the matrices are small, and threads of BLAS only wait for each other; on a busy machine
    an impact set of 2 ms takes 15. Who wants threads sets the variables."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _node(name: str) -> None:
    _leave_quietly(0)
    _one_thread()
    try:
        module = import_module(f"hybrid_contact_ros.nodes.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in _OF_ROS and not missing.endswith(("_msgs", "_srvs")):
            raise
        sys.exit(f"{name} needs ROS 2 and hybrid_contact_msgs; there is no {error.name} here. Source their setup file")
    module.main()


def contact_mode() -> None:
    _node("contact_mode")


def impact_set() -> None:
    _node("impact_set")


def constraint_stability() -> None:
    _node("constraint_stability")


def contact_markers() -> None:
    _node("contact_markers")


def contact_suite() -> None:
    _node("contact_suite")


def demo_robot() -> None:
    """The robot of ``hybrid-contact demo``. It is a process of that command and no executable of the package."""
    _helper("demo.robot")


def demo_listener() -> None:
    """The listener of ``hybrid-contact demo``, likewise."""
    _helper("demo.listener")


def demo_echo() -> None:
    """The node that ``hybrid-contact demo --echo`` runs in place of the suite, likewise."""
    _leave_quietly(0)
    _one_thread()
    import_module("hybrid_contact_ros.nodes.demo.echo").main()


def _helper(name: str) -> None:
    _leave_quietly(0)
    _one_thread()
    module = import_module(f"hybrid_contact_ros.nodes.{name}")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module.main()


def command() -> int:
    """``hybrid-contact``. A second Ctrl-C while the first one is handled changes nothing."""
    _leave_quietly(INTERRUPTED)
    _one_thread()
    from hybrid_contact_ros.cli import main

    came = []

    def interrupt(number: int, _: object) -> None:
        came.append(signal.signal(number, signal.SIG_IGN))
        raise KeyboardInterrupt

    def again(lost: sys.UnraisableHookArgs) -> None:
        # It struck where nothing passes it on, as within a lock of an import: the command would go on. Nothing can be
        # raised from here, either.
        if came and issubclass(lost.exc_type, KeyboardInterrupt):
            signal.signal(signal.SIGINT, interrupt)
            Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(lost)

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = again
    try:
        code = main()
    except BaseException:
        if not came:
            raise
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return INTERRUPTED if came else code


if __name__ == "__main__":
    chosen = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if chosen.startswith("_") or not callable(globals().get(chosen)):
        sys.exit("usage: python -m hybrid_contact_ros.programs NAME [ARGUMENTS]")
    sys.exit(globals()[chosen]())
