"""The page of `nbyt probe`: one frozen policy's gradient under every layout. No JAX."""

from nbyt.report.pages.measurement.document import measurement_chart, measurement_page

__all__ = ["measurement_chart", "measurement_page"]
