"""The benchmarks are not installed: their tests find them beside the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
