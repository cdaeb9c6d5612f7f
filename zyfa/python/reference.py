"""For tests: attention in float64, by the definition, and e4m3 by its own."""

import math

import torch


def attention(query, key, value, causal=True, softmax_scale=None, score_factor=None):
    """Output [batch, seqlen_q, heads_q, head_dim_v] and log-sum-exp [batch, heads_q, seqlen_q] of
    real numbers in the layout of zyfa. score_factor [batch, heads_q, seqlen_q, seqlen_kv] or less
    instead of softmax_scale."""
    group = query.shape[2] // key.shape[2]
    q = query.double().permute(0, 2, 1, 3)
    k = key.double().permute(0, 2, 1, 3).repeat_interleave(group, dim=1)
    v = value.double().permute(0, 2, 1, 3).repeat_interleave(group, dim=1)
    if score_factor is None:
        score_factor = 1 / math.sqrt(query.shape[3]) if softmax_scale is None else softmax_scale
    scores = q @ k.transpose(2, 3) * score_factor
    if causal:
        seen = torch.arange(k.shape[2])[None, :] <= torch.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2]
        scores = scores.masked_fill(~seen, -math.inf)
    lse = torch.logsumexp(scores, dim=3)
    weights = torch.exp(scores - lse[..., None])
    weights[torch.isinf(lse)] = 0  # rows that see no key
    return (weights @ v).permute(0, 2, 1, 3), lse


def from_e4m3(codes):
    """float64 of bytes: sign, 4 bits of exponent with bias 7, 3 of mantissa; no infinities."""
    codes = codes.view(torch.uint8).long()
    sign = 1 - 2 * (codes >> 7)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    subnormal = mantissa * 2.0**-9
    normal = (8 + mantissa) * 2.0 ** (exponent - 10)
    return (sign * torch.where(exponent == 0, subnormal, normal)).double()


def relative_error(got, expected):
    return float((got.double() - expected).norm() / expected.norm())
