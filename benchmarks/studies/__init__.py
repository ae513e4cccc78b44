"""Finished studies, brought into the docs."""
