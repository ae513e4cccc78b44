"""The page of an advice as one HTML file, or a card for notebooks. No JAX."""

from nbyt.report.pages.advice.document import card, render, write_page

__all__ = ["card", "render", "write_page"]
