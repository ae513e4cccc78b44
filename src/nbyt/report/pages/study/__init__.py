"""The page of a study: claims, verdicts and figures as plain data to one HTML file. No JAX."""

from nbyt.report.pages.study.document import study_page

__all__ = ["study_page"]
