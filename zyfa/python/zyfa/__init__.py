"""Attention-prefill kernels for AMD MI355X (gfx950) as PyTorch operators.

Tensors on a GPU go to the kernels as they are. Tensors on the CPU go to the same
kernels on the emulated device: slow, but with the kernels' own rounding, so that
what they do to a model can be measured without an MI355X.
"""

from zyfa._attention import PRECISIONS, attention, attention_forward
from zyfa._transformers import register_transformers

__all__ = ["PRECISIONS", "attention", "attention_forward", "register_transformers"]
__version__ = "0.3.0"
