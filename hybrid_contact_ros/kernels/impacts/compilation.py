"""How the kernels of impacts are compiled."""

from __future__ import annotations

from typing import Any

from numba.core import options

KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
"""Options of ``njit`` for kernels that allocate nothing.

Without numba's run time (``_nrt``) the references of arrays are not counted. Counting them takes a third of the time of
an increment, because records of arrays are handed to small kernels at every pivot. A kernel that makes an array, with
``np.empty`` for instance, does not compile with these options; slices are allowed.
"""

# The option is not documented: a numba without it counts the references, and nothing else changes
if hasattr(getattr(options, "DefaultOptions", None), "_nrt"):
    KERNEL["_nrt"] = False
