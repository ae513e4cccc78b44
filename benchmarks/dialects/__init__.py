"""Do libraries do what `explain` says? Their real updates, counted."""
