"""Sweeps: every layout of a batch, trained with every seed; run, retry, resume."""
