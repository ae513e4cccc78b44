"""Simulators that come as a vector of N envs: Gymnasium's, Stable-Baselines3's, Isaac-style."""
