"""Does the advice come true? Every layout trained on eight tasks, and what advice said of them."""
