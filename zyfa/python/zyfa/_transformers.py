"""Attention for Hugging Face transformers."""

from __future__ import annotations

from zyfa._attention import PRECISIONS, attention

# Of an attention function: what would change the result and the kernels do not know.
_UNKNOWN = ("softcap", "s_aux", "sinks", "position_bias", "head_mask", "block_table")


def _reason(query, key, attention_mask, dropout, sliding_window, keywords):
    """Why the kernels cannot take the call; None if they can."""
    for name in _UNKNOWN:
        if keywords.get(name) is not None:
            return f"{name} is given; allowed: none"
    if attention_mask is not None:
        return "attention_mask is given; allowed: none, which is causal attention without padding"
    if dropout:
        return f"dropout is {dropout}; allowed: 0"
    if query.shape[2] != key.shape[2]:
        return (
            f"query has {query.shape[2]} tokens and key {key.shape[2]}; allowed: the same number, "
            "which is prefill without a cache of earlier tokens"
        )
    if sliding_window is not None and sliding_window < key.shape[2]:
        return f"sliding_window is {sliding_window}; allowed: none, or {key.shape[2]} tokens at least"
    return None


def register_transformers(name="zyfa", *, precision="bf16", fallback="error", rotate=True, subtract_mean=True):
    """Makes `attn_implementation=name` work: prefill of causal (or full) attention, no padding.

    precision, rotate, subtract_mean: as `zyfa.attention`; register further names for others.
    Models must hold bfloat16, and head dims 128, or 192 and 128.

    Other calls - padding or other masks, dropout, sliding windows that are shorter than the text,
    query lengths that are not the key's, as in decoding - raise a ValueError or, with
    fallback="sdpa", go to PyTorch's scaled_dot_product_attention. There is no backward pass.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}; allowed: {', '.join(PRECISIONS)}")
    if fallback not in ("error", "sdpa"):
        raise ValueError(f"fallback is {fallback!r}; allowed: error, sdpa")
    # Not at the top: zyfa does without transformers.
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    sdpa = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def forward(
        module,
        query,
        key,
        value,
        attention_mask,
        dropout=0.0,
        scaling=None,
        is_causal=None,
        sliding_window=None,
        **keywords,
    ):
        """query [batch, heads, seqlen, head_dim], key and value with their own number of heads."""
        reason = _reason(query, key, attention_mask, dropout, sliding_window, keywords)
        if reason is not None:
            # sdpa passes over attention sinks.
            if fallback == "error" or keywords.get("s_aux") is not None:
                raise ValueError(f"attention '{name}': {reason}")
            return sdpa(
                module,
                query,
                key,
                value,
                attention_mask,
                dropout=dropout,
                scaling=scaling,
                is_causal=is_causal,
                sliding_window=sliding_window,
                **keywords,
            )
        output = attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            precision=precision,
            softmax_scale=scaling,
            causal=getattr(module, "is_causal", True) if is_causal is None else is_causal,
            rotate=rotate,
            subtract_mean=subtract_mean,
        )
        return output, None

    ALL_ATTENTION_FUNCTIONS.register(name, forward)
    # sdpa's masks are None where attention is plainly causal.
    ALL_MASK_ATTENTION_FUNCTIONS.register(name, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
