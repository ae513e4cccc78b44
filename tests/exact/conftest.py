"""Annotations inside the oracle are checked as it runs; this folder is on the import path.

Not those of its entrances: what is wrong there has to reach the checks that name a remedy.
"""

import sys
from pathlib import Path

from jaxtyping import install_import_hook

INSIDE = ("gradient", "origins", "values", "walk")

install_import_hook([f"nbyt.exact.{name}" for name in INSIDE], "beartype.beartype")
sys.path.insert(0, str(Path(__file__).parent))
