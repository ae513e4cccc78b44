"""PPO as a pure function of settings and a seed, and the loop around it."""
