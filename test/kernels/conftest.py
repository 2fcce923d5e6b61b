"""The kernels' tests share the problems of the impacts' tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "impacts"))
