"""The page of a sweep: plain data to one HTML file. No JAX."""

from nbyt.report.pages.sweep.document import sweep_page

__all__ = ["sweep_page"]
