"""Timing: contenders in processes of their own, in interleaved rounds, and their ratios."""
