"""A note on mini-batches and experience replay, measured statement by statement."""
