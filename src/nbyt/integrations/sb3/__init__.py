"""Stable-Baselines3's models, measured with nbyt: a callback for training, and advice."""

from nbyt.integrations.sb3.advice import advise
from nbyt.integrations.sb3.callback import GradientProbe

__all__ = ["GradientProbe", "advise"]
