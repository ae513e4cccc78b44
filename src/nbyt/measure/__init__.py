"""Measuring a stage: what every layout of a batch would do to its gradient."""
