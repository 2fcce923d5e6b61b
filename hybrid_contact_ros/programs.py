"""Entry points of the executables. Small on purpose: they catch Ctrl-C before anything large is imported.

Importing numba, Pinocchio and rclpy takes seconds. An interrupt in the midst of it ends in a traceback from wherever it
struck, or in an import that fails for no visible reason; nothing is there yet that would need an orderly end.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

INTERRUPTED = 130
"""Exit code of a command that was interrupted, as of a shell: 128 + SIGINT. Nodes end with 0."""


def _leave_quietly(code: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(code))


def _node(name: str) -> None:
    _leave_quietly(0)
    import_module(f"hybrid_contact_ros.nodes.{name}").main()


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
    """A process of ``hybrid-contact demo``, not an executable of the package; so is the next one."""
    _helper("demo.robot")


def demo_monitor() -> None:
    _helper("demo.monitor")


def _helper(name: str) -> None:
    _leave_quietly(0)
    module = import_module(f"hybrid_contact_ros.nodes.{name}")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module.main()


def command() -> int:
    """``hybrid-contact``. A second Ctrl-C while the first one is being followed changes nothing."""
    _leave_quietly(INTERRUPTED)
    from hybrid_contact_ros.cli import main

    came = []

    def interrupt(number: int, _: object) -> None:
        came.append(signal.signal(number, signal.SIG_IGN))
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, interrupt)
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
