"""Puts the toys of this folder and the corridor of tests/envs on the import path."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "envs")]
