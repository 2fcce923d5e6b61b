"""A ROS domain that no other program of this machine uses."""

from __future__ import annotations

import socket

_LAST = 101  # those above use UDP ports that Linux also hands out to anybody
_PORT = 17400  # and the domain: a TCP port of this machine, which one process alone can hold


def claim_domain() -> tuple[int, socket.socket]:
    """A domain from 1 to 101, and what holds it: it is claimed until that socket is closed, or this process ends.

    Only programs that claim their domains keep out of each other's way: demos, tests and benchmarks do. Somebody who
    chose a domain, for a robot, is met nevertheless unless discovery is restricted to this machine.

    Raises:
        OSError: all of them are claimed.
    """
    for domain in range(_LAST, 0, -1):
        claim = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            claim.bind(("127.0.0.1", _PORT + domain))
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise OSError(f"all ROS domains from 1 to {_LAST} are taken by other demos or tests; let one of them end")
