"""The counts of real libraries lie beside the package, in `benchmarks`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
