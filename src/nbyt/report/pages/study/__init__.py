"""The page of a study: claims, verdicts and figures as plain data to one HTML file. No JAX."""

from nbyt.report.pages.study.document import render_study, write_study_page

__all__ = ["render_study", "write_study_page"]
