"""Benchmarks: what nbyt promises about speed and learning, measured against its peers."""
