"""Gradients of a frozen policy and critic, step by step, without ever writing one step's down."""

from nbyt.gradients.chains import Chains as Chains
from nbyt.gradients.engines.own import StageEngine as StageEngine
