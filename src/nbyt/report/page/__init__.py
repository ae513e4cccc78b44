"""The page of an advice: plain data to one HTML file, or to a card for notebooks. No JAX."""

from nbyt.report.page.document import render, write_page
from nbyt.report.page.notebook_card import card

__all__ = ["card", "render", "write_page"]
