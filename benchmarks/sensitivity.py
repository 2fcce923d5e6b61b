"""``./run bench sensitivity``: derivatives of impacts and executions, what they cost, and how right they are.

clusters: Ξ of one touchdown and the words of one to four contacts, of a quadruped and of a humanoid.
convergence: differences of simulate beside ∂x(t)/∂x(0), the Bouligand derivative and the map of a word.
covariances: a filter that carries its covariance through impacts, beside one that ignores the jump.
peer: hybrid-tools on its own bouncing ball, equal to 1e-10, and by how much faster or slower.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from benchmarks import sensitivity_clusters, sensitivity_convergence, sensitivity_peer


def covariances() -> None:
    """The salted filter's runs, which are a benchmark of their own as well."""
    try:
        from benchmarks import sensitivity_filter
    except ImportError as error:
        print(f"left out: {error}")
        return
    sys.argv = sys.argv[:1]  # its own arguments, of which there are none
    sensitivity_filter.main()


PARTS: dict[str, Callable[[], None]] = {
    "clusters": sensitivity_clusters.report,
    "convergence": sensitivity_convergence.report,
    "covariances": covariances,
    "peer": sensitivity_peer.report,
}


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(prog="./run bench sensitivity", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    for name in parser.parse_args().only:
        print(f"-- {name} --", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
