"""Puts this folder on the import path, for the tests and for the worker processes they start."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
