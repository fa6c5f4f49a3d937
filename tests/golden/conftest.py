"""Lets the golden tests import the scripts beside them that record what they compare with."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
