"""Stable-Baselines3's models, measured with nbyt."""
