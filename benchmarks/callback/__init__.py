"""The callback: how much longer a Stable-Baselines3 training takes with GradientProbe in it."""
