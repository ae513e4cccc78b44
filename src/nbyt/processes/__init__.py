"""Processes that may hang or die, and the means to notice it and to clean up after them."""
