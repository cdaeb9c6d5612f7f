"""Causal attention in each precision, against PyTorch's in float64."""

import torch
import zyfa

torch.manual_seed(1)
# [batch, seqlen, heads, head_dim]: 4 query heads share 2 KV heads.
query = torch.randn(1, 256, 4, 128).bfloat16()
key = torch.randn(1, 256, 2, 128).bfloat16()
value = torch.randn(1, 256, 2, 128).bfloat16()

q, k, v = (t.double().transpose(1, 2) for t in (query, key, value))
scores = q @ k.repeat_interleave(2, 1).transpose(2, 3) / 128**0.5
scores += torch.full((256, 256), -torch.inf).triu(1)
exact = (scores.softmax(3) @ v.repeat_interleave(2, 1)).transpose(1, 2)

for precision in zyfa.PRECISIONS:
    output = zyfa.attention(query, key, value, precision=precision)
    error = (output.double() - exact).norm() / exact.norm()
    print(f"{precision:14} relative error {error:.4f}")
