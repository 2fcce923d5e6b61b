"""Lets the tests import the problems that they share."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
