"""Train, measure and rank in one go."""
