"""The committed copy of `nbyt reproduce post`."""
