"""Training: algorithms as pure functions of settings and a seed, and the loop around them."""
