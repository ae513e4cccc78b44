"""Plain data to terminal tables."""
