"""``./run bench sensitivity``: derivatives of impacts and executions, what they cost, and how right they are.

clusters: Ξ of one touchdown and the words of one to four contacts, of a quadruped and of a humanoid.
convergence: differences of simulate beside ∂x(t)/∂x(0), the Bouligand derivative and the map of a word.
covariances: a filter that carries its covariance through impacts, beside one that ignores the jump; that is
``sensitivity_filter``, which takes as long as it has runs.
peer: hybrid-tools on its own bouncing ball, equal to 1e-10, and by how much faster or slower.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from benchmarks import sensitivity_clusters, sensitivity_convergence, sensitivity_filter, sensitivity_peer

PARTS: dict[str, Callable[[], None]] = {
    "clusters": sensitivity_clusters.report,
    "convergence": sensitivity_convergence.report,
    "peer": sensitivity_peer.report,
    "covariances": sensitivity_filter.main,
}


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(prog="./run bench sensitivity", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=50, help="of each landing of the covariances; 500 in docs")
    given = parser.parse_args()
    sys.argv = [sys.argv[0], str(given.runs)]  # what sensitivity_filter looks at
    for name in given.only:
        print(f"-- {name} --", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
