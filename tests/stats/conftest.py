"""Puts this folder on the import path, for the vectors that its tests share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
