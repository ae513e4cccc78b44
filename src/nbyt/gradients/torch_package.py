"""The door to torch: the only file that imports it."""

from nbyt.errors import MissingExtraError

try:
    import torch
except ImportError as error:
    raise MissingExtraError("torch", "sb3") from error

Module = torch.nn.Module
Tensor = torch.Tensor

__all__ = ["Module", "Tensor", "torch"]
