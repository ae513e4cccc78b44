"""Whether nbyt's PPO learns as Stable-Baselines3's does, given the same settings."""
