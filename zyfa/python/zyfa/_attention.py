"""The operators zyfa::attention_forward and zyfa::quantized_attention."""

from __future__ import annotations

import ctypes

import torch

from zyfa import _c_api, _device

# What `attention` can work in.
PRECISIONS = ("bf16", "fp8_lean", "fp8_exact", "int8_shift", "int8_multiply")

_QUANTIZED = {
    "fp8_lean": _c_api.FP8_LEAN,
    "fp8_exact": _c_api.FP8_EXACT,
    "int8_shift": _c_api.INT8_SHIFT,
    "int8_multiply": _c_api.INT8_MULTIPLY,
}

# PyTorch before 2.1 has no float8: bytes of e4m3 are uint8 there.
_FLOAT8 = getattr(torch, "float8_e4m3fn", torch.uint8)

_DATA_TYPES = {torch.bfloat16: _c_api.BF16, _FLOAT8: _c_api.FP8, torch.uint8: _c_api.FP8, torch.int8: _c_api.INT8}

_UINT32 = (torch.int32,) + ((torch.uint32,) if hasattr(torch, "uint32") else ())


def attention_forward(
    query,
    key,
    value,
    *,
    softmax_scale=None,
    causal=True,
    query_descale=None,
    key_descale=None,
    value_descale=None,
    output_scale=None,
    query_shift=None,
    key_multiplier=None,
    return_lse=False,
    variant=None,
):
    """softmax(softmax_scale * query key^T, masked) value, by one kernel.

    query [batch, seqlen_q, heads_q, head_dim], key [batch, seqlen_kv, heads_kv, head_dim],
    value [batch, seqlen_kv, heads_kv, head_dim_v]; head_dim / head_dim_v 128 / 128 or 192 / 128,
    heads_q a multiple of heads_kv. Any strides that are multiples of 16 bytes, but for the last
    dimension, which is contiguous; nothing is copied to make it so. Types:

    - torch.bfloat16;
    - torch.float8_e4m3fn (or torch.uint8 with the same bytes), each element standing for element
      * descale. A descale is a number, or float32 [heads] or [batch, heads] beside the tensor,
      either size 1 for all; query's by query or KV head;
    - torch.int8 query and key with an FP8 value: `query_shift`, uint8 [batch, heads_q, seqlen_q],
      and, if keys have multipliers, `key_multiplier`, int32 [batch, heads_kv, seqlen_kv], as the
      quantiser makes them (`attention` does all of it).

    causal: query i sees keys 0 .. i + seqlen_kv - seqlen_q. softmax_scale: 1 / sqrt(head_dim) if
    None. variant: a kernel's name; None: picked by types, sizes and mask.

    Returns the output [batch, seqlen_q, heads_q, head_dim_v] in bfloat16 or, with `output_scale`,
    FP8: e4m3(real number * output_scale). With return_lse also the log-sum-exp, natural, float32
    [batch, heads_q, seqlen_q].

    Tensors of a GPU: queued on PyTorch's current stream. Of the CPU: on the emulated device.
    ValueError says which argument is wrong and what is allowed. There is no backward pass.
    """
    output, lse = torch.ops.zyfa.attention_forward(
        query,
        key,
        value,
        softmax_scale=softmax_scale,
        causal=causal,
        query_descale=_as_scale(query_descale),
        key_descale=_as_scale(key_descale),
        value_descale=_as_scale(value_descale),
        output_scale=_as_scale(output_scale),
        query_shift=query_shift,
        key_multiplier=key_multiplier,
        return_lse=return_lse,
        variant=variant,
    )
    return (output, lse) if return_lse else output


def attention(
    query,
    key,
    value,
    *,
    precision="bf16",
    softmax_scale=None,
    causal=True,
    rotate=True,
    subtract_mean=True,
    return_lse=False,
):
    """Attention of bfloat16 tensors in any of PRECISIONS; sizes and results as attention_forward.

    All but "bf16" quantise query, key and value on the device first, with a scale for each head of
    each batch entry: "fp8_lean" and "fp8_exact" to e4m3, "int8_shift" and "int8_multiply" query and
    key to int8. Before that, query and key are rotated by a Hadamard transform (`rotate`), and keys
    lose their mean (`subtract_mean`); neither changes exact attention, both make the error smaller.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}; allowed: {', '.join(PRECISIONS)}")
    if precision == "bf16":
        return attention_forward(
            query, key, value, softmax_scale=softmax_scale, causal=causal, return_lse=return_lse
        )
    output, lse = torch.ops.zyfa.quantized_attention(
        query,
        key,
        value,
        precision=precision,
        softmax_scale=softmax_scale,
        causal=causal,
        rotate=rotate,
        subtract_mean=subtract_mean,
        return_lse=return_lse,
    )
    return (output, lse) if return_lse else output


def _as_scale(scale):
    """Numbers as tensors of no dimension on the CPU, which is how the operator knows them."""
    if scale is None or isinstance(scale, torch.Tensor):
        return scale
    return torch.tensor(float(scale), dtype=torch.float32)


def _refuse(argument, value, allowed):
    raise ValueError(f"{argument} is {value}; allowed: {allowed}")


def _check(name, tensor, query, dimensions, types, row):
    """Of a tensor that the C interface sees by address, sizes and strides."""
    if tensor.dtype not in types:
        _refuse(f"{name}.dtype", tensor.dtype, ", ".join(sorted({str(t) for t in types})))
    if tensor.dim() not in dimensions:
        _refuse(f"{name}.dim()", tensor.dim(), ", ".join(map(str, dimensions)))
    if tensor.device != query.device:
        _refuse(f"{name}.device", tensor.device, f"{query.device}, which is query.device")
    if row and tensor.shape[-1] > 1 and tensor.stride(-1) != 1 and tensor.numel() > 0:
        _refuse(f"{name}.stride(-1)", tensor.stride(-1), "1, a contiguous last dimension")


def _tensor(name, tensor, query, place):
    """zyfa_tensor; `place` gives an address."""
    _check(name, tensor, query, (4,), _DATA_TYPES, row=True)
    size = tensor.element_size()
    batch, seq, head = (stride * size for stride in tensor.stride()[:3])
    return _c_api.Tensor(
        data_type=_DATA_TYPES[tensor.dtype],
        address=place(tensor),
        batch=tensor.shape[0],
        seqlen=tensor.shape[1],
        heads=tensor.shape[2],
        head_dim=tensor.shape[3],
        batch_stride=batch,
        seq_stride=seq,
        head_stride=head,
    )


def _tokens(name, tensor, query, types, place):
    """zyfa_tokens or zyfa_lse of [batch, heads, seqlen]; NULL of None."""
    if tensor is None:
        return None
    _check(name, tensor, query, (3,), types, row=True)
    size = tensor.element_size()
    return ctypes.pointer(
        _c_api.Tokens(
            address=place(tensor),
            batch=tensor.shape[0],
            heads=tensor.shape[1],
            seqlen=tensor.shape[2],
            batch_stride=tensor.stride(0) * size,
            head_stride=tensor.stride(1) * size,
        )
    )


def _scale(name, scale, query, place):
    """zyfa_scale; NULL of None."""
    if scale is None:
        return None
    if scale.dim() == 0 and scale.device.type == "cpu":
        return ctypes.pointer(_c_api.Scale(value=scale.item(), batch=1, heads=1))
    _check(name, scale, query, (0, 1, 2), (torch.float32,), row=False)
    by_batch = scale.reshape(1, 1) if scale.dim() == 0 else scale.unsqueeze(0) if scale.dim() == 1 else scale
    return ctypes.pointer(
        _c_api.Scale(
            address=place(by_batch),
            batch=by_batch.shape[0],
            heads=by_batch.shape[1],
            batch_stride=by_batch.stride(0) * 4,
            head_stride=by_batch.stride(1) * 4,
        )
    )


def _number(value):
    return None if value is None else ctypes.pointer(ctypes.c_float(value))


def _results(query, value, output_scale, return_lse):
    """Output and log-sum-exp to be filled; the latter [0] if not wanted."""
    for name, tensor in ("query", query), ("value", value):
        if tensor.dim() != 4:
            _refuse(f"{name}.dim()", tensor.dim(), "4")
    batch, seqlen, heads, _ = query.shape
    dtype = torch.bfloat16 if output_scale is None else _FLOAT8
    output = query.new_empty((batch, seqlen, heads, value.shape[3]), dtype=dtype)
    lse = query.new_empty((batch, heads, seqlen) if return_lse else (0,), dtype=torch.float32)
    return output, lse


def _run_attention(call, tensors, numbers, output, lse):
    """attention_forward by a call of _device.py."""
    query, key, value = tensors["query"], tensors["key"], tensors["value"]
    description = _c_api.Attention(
        mask=_c_api.CAUSAL if numbers["causal"] else _c_api.FULL,
        query=ctypes.pointer(_tensor("query", query, query, call.read)),
        key=ctypes.pointer(_tensor("key", key, query, call.read)),
        value=ctypes.pointer(_tensor("value", value, query, call.read)),
        output=ctypes.pointer(_tensor("output", output, query, call.write)),
        lse=_tokens("lse", lse, query, (torch.float32,), call.write) if lse.dim() == 3 else None,
        softmax_scale=_number(numbers["softmax_scale"]),
        variant=None if numbers["variant"] is None else numbers["variant"].encode(),
        query_shift=_tokens("query_shift", tensors.get("query_shift"), query, (torch.uint8,), call.read),
        key_multiplier=_tokens("key_multiplier", tensors.get("key_multiplier"), query, _UINT32, call.read),
        **{
            name: _scale(name, tensors.get(name), query, call.read)
            for name in ("query_descale", "key_descale", "value_descale", "output_scale")
        },
    )
    call.run("zyfa_attention_forward", description)


def _attention_forward(
    query, key, value, *, softmax_scale=None, causal=True, output_scale=None, return_lse=False, variant=None, **others
):
    """`others`: descales, shifts and multipliers; what is None may be missing."""
    output, lse = _results(query, value, output_scale, return_lse)
    tensors = {"query": query, "key": key, "value": value, "output_scale": output_scale, **others}
    numbers = {"softmax_scale": softmax_scale, "causal": causal, "variant": variant}
    with _device.call_on(query.device) as call:
        _run_attention(call, tensors, numbers, output, lse)
    return output, lse


def _attention_forward_meta(query, key, value, *, output_scale=None, return_lse=False, **_):
    return _results(query, value, output_scale, return_lse)


def _run_quantized(call, query, key, value, numbers, output, lse, correction):
    """quantized_attention by a call of _device.py."""
    description = _c_api.QuantizedAttention(
        mask=_c_api.CAUSAL if numbers["causal"] else _c_api.FULL,
        query=ctypes.pointer(_tensor("query", query, query, call.read)),
        key=ctypes.pointer(_tensor("key", key, query, call.read)),
        value=ctypes.pointer(_tensor("value", value, query, call.read)),
        output=ctypes.pointer(_tensor("output", output, query, call.write)),
        lse=_tokens("lse", lse, query, (torch.float32,), call.write) if lse.dim() == 3 else None,
        lse_correction=_tokens("lse_correction", correction, query, (torch.float32,), call.write),
        softmax_scale=_number(numbers["softmax_scale"]),
        precision=_QUANTIZED[numbers["precision"]],
        rotate=numbers["rotate"],
        subtract_mean=numbers["subtract_mean"],
    )
    size = ctypes.c_size_t()
    call.library.call("zyfa_quantized_attention_workspace", ctypes.byref(description), ctypes.byref(size))
    description.workspace = call.scratch(size.value)
    call.run("zyfa_quantized_attention_forward", description)


def _quantized_attention(
    query,
    key,
    value,
    *,
    precision,
    softmax_scale=None,
    causal=True,
    rotate=True,
    subtract_mean=True,
    return_lse=False,
):
    if precision not in _QUANTIZED:
        _refuse("precision", repr(precision), ", ".join(_QUANTIZED))
    output, lse = _results(query, value, None, return_lse)
    correction = torch.empty_like(lse) if return_lse and subtract_mean else None
    numbers = {
        "precision": precision,
        "softmax_scale": softmax_scale,
        "causal": causal,
        "rotate": rotate,
        "subtract_mean": subtract_mean,
    }
    with _device.call_on(query.device) as call:
        _run_quantized(call, query, key, value, numbers, output, lse, correction)
    return output, lse if correction is None else lse.add_(correction)


def _quantized_attention_meta(query, key, value, *, return_lse=False, **_):
    return _results(query, value, None, return_lse)


def _without_backward(name):
    """The operator as autograd sees it: a result that refuses to be differentiated."""

    def below(*arguments, **keywords):
        operator = getattr(torch.ops.zyfa, name)
        guard = torch._C._AutoDispatchBelowAutograd()
        if not hasattr(guard, "__enter__"):
            return operator(*arguments, **keywords)  # PyTorch 1: it guards as long as it lives
        with guard:
            return operator(*arguments, **keywords)

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(_, keywords, *tensors):
            return below(*tensors, **keywords)

        @staticmethod
        def backward(*_):
            raise NotImplementedError(f"zyfa::{name} has no backward pass; run it under torch.no_grad()")

    def dispatch(query, key, value, **keywords):
        if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad or value.requires_grad):
            return Forward.apply(keywords, query, key, value)
        return below(query, key, value, **keywords)

    return dispatch


# Kept: when it goes, so do the operators.
_OPERATORS = torch.library.Library("zyfa", "DEF")


def _define(name, schema, run, meta):
    _OPERATORS.define(f"{name}(Tensor query, Tensor key, Tensor value, *, {schema}) -> (Tensor, Tensor)")
    _OPERATORS.impl(name, run, "CPU")
    _OPERATORS.impl(name, run, "CUDA")
    _OPERATORS.impl(name, meta, "Meta")
    _OPERATORS.impl(name, _without_backward(name), "Autograd")


_define(
    "attention_forward",
    "float? softmax_scale=None, bool causal=True, Tensor? query_descale=None, Tensor? key_descale=None, "
    "Tensor? value_descale=None, Tensor? output_scale=None, Tensor? query_shift=None, "
    "Tensor? key_multiplier=None, bool return_lse=False, str? variant=None",
    _attention_forward,
    _attention_forward_meta,
)
_define(
    "quantized_attention",
    "str precision, float? softmax_scale=None, bool causal=True, bool rotate=True, bool subtract_mean=True, "
    "bool return_lse=False",
    _quantized_attention,
    _quantized_attention_meta,
)
