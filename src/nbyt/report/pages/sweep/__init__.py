"""The page of a sweep: plain data to one HTML file. No JAX."""

from nbyt.report.pages.sweep.document import render_sweep, write_page

__all__ = ["render_sweep", "write_page"]
