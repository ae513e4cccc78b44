"""Puts the toys of this folder on the import path; torch takes one thread, the suite has others."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
torch.set_num_threads(1)
