"""The page of a probed training: records as plain data to one HTML file. No JAX."""

from nbyt.report.pages.probes.document import probes_page

__all__ = ["probes_page"]
