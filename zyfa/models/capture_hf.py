#!/usr/bin/env python3
"""Captures what a Hugging Face causal LM hands to attention.

    capture_hf.py --model=DIR_OR_NAME --text=FILE --tokens=16384 --output_dir=DIR

writes DIR/layer_N.safetensors with q, k and v of each layer after RoPE in bf16:
[tokens, heads, head dim], as //zyfa/models:capture does, for
//zyfa/bench:accuracy and //zyfa/bench:captured. Needs torch and transformers of
the user's own; capture_hf_test.py passes with torch 2.15.0 and transformers
4.57.6 and 5.24.0.

Our programs take 1 / sqrt(head dim) for the softmax scale. Where a model has
another, Q is multiplied by the quotient before it is rounded.

Exit status: 0 if all files are written, 2 if not.
"""

import argparse
import contextlib
import json
import math
import os
import struct
import sys


class CaptureError(Exception):
    """What cannot be captured, for people."""


def write_safetensors(path, tensors):
    """Writes bf16 tensors [(name, shape, bytes)] to a file, in one step."""
    header, offset = {}, 0
    for name, shape, data in tensors:
        if name in header:
            raise CaptureError(f"{path}: two tensors '{name}'")
        size = 2 * math.prod(shape)
        if len(data) != size:
            raise CaptureError(
                f"{path}: tensor '{name}' has {len(data)} bytes; allowed: "
                f"{size}, as its shape {list(shape)} says")
        header[name] = {"dtype": "BF16", "shape": list(shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # aligns the data
    partial = path + ".partial"
    with open(partial, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors:
            file.write(data)
    os.replace(partial, path)


def check_shapes(layer, q, k, v):
    """Shapes [tokens, heads, head dim]; CaptureError for those that no reader
    takes."""
    if not (len(q) == len(k) == len(v) == 3 and min(*q, *k, *v) >= 1 and
            q[0] == k[0] == v[0] and k[1] == v[1] and q[1] % k[1] == 0 and
            q[2] == k[2]):
        raise CaptureError(
            f"layer {layer}: q {list(q)}, k {list(k)}, v {list(v)}; allowed: "
            "[tokens, heads, head dim], as many tokens in all, as many heads in "
            "k and v, a divisor of q's, and as many channels in q and k")


def distinct_heads(equal, heads_q, heads_kv):
    """How many KV heads there were before they were repeated for the query
    heads. equal(a, b): whether KV heads a and b are the same."""
    if heads_kv != heads_q:
        return heads_kv
    run = 1
    while run < heads_kv and equal(0, run):
        run += 1
    whole = heads_kv % run == 0 and all(
        equal(h - h % run, h) for h in range(heads_kv))
    return heads_kv // run if whole else heads_kv


class Recorder:
    """Writes each layer's call of attention as it comes."""

    def __init__(self, output_dir):
        self.output_dir = output_dir
        self.shapes = {}  # by layer

    def record(self, layer, query, key, value, scaling, window=None):
        """query, key, value: [1, heads, tokens, head dim]."""
        import torch

        if layer in self.shapes:
            raise CaptureError(f"layer {layer} calls attention twice")
        if query.shape[0] != 1:
            raise CaptureError(f"the batch is {query.shape[0]}; allowed: 1")
        tokens, dim = query.shape[2], query.shape[3]
        if window is not None and window < tokens:
            raise CaptureError(
                f"layer {layer} sees a window of {window} tokens; allowed: "
                f"--tokens of at most that, not {tokens}")
        heads = distinct_heads(
            lambda a, b: torch.equal(key[0, a], key[0, b]) and torch.equal(
                value[0, a], value[0, b]), query.shape[1], key.shape[1])
        step = key.shape[1] // heads
        key, value = key[:, ::step], value[:, ::step]
        if scaling is not None:
            factor = scaling * math.sqrt(dim)
            if abs(factor - 1) > 1e-6:
                query = query.float() * factor
        tensors = []
        for name, x in (("q", query), ("k", key), ("v", value)):
            x = x[0].transpose(0, 1).to(torch.bfloat16).contiguous().cpu()
            if not torch.isfinite(x).all():
                raise CaptureError(f"layer {layer}: {name} is not finite")
            tensors.append((name, tuple(x.shape),
                            x.view(torch.int16).numpy().tobytes()))
        check_shapes(layer, *[shape for _, shape, _ in tensors])
        write_safetensors(
            os.path.join(self.output_dir, f"layer_{layer}.safetensors"), tensors)
        self.shapes[layer] = [shape for _, shape, _ in tensors]


@contextlib.contextmanager
def through_interface(model, recorder):
    """Records the calls of transformers' attention function of the model."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    name = model.config._attn_implementation
    original = ALL_ATTENTION_FUNCTIONS[name]

    def attention(module, query, key, value, attention_mask, *args, **kwargs):
        for what in ("softcap", "s_aux"):
            if kwargs.get(what) is not None:
                raise CaptureError(f"attention has {what}; allowed: none")
        scaling = kwargs.get("scaling", getattr(module, "scaling", None))
        recorder.record(module.layer_idx, query, key, value, scaling,
                        kwargs.get("sliding_window"))
        return original(module, query, key, value, attention_mask, *args,
                        **kwargs)

    ALL_ATTENTION_FUNCTIONS[name] = attention
    try:
        yield
    finally:
        ALL_ATTENTION_FUNCTIONS[name] = original


def attention_modules(model):
    """Innermost modules of a class named ...Attention..., in order."""
    found = [m for m in model.modules() if "Attention" in type(m).__name__]
    return [m for m in found
            if not any(c is not m and c in found for c in m.modules())]


@contextlib.contextmanager
def through_products(model, recorder):
    """Records the two products of attention that a model multiplies out itself,
    as code of its own (DeepSeek's) does."""
    import torch
    from torch.overrides import TorchFunctionMode

    stack = []  # attention modules that are running: [layer, module, q, k]

    class Products(TorchFunctionMode):

        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            fused = (function is
                     torch.nn.functional.scaled_dot_product_attention)
            if stack and fused:
                names = ("query", "key", "value")
                q, k, v = [args[i] if i < len(args) else kwargs[names[i]]
                           for i in range(3)]
                recorder.record(stack[-1][0], q, k, v, kwargs.get("scale"))
            elif stack and len(args) > 1 and args[0].dim() == 4 and (
                    function in (torch.matmul, torch.Tensor.matmul,
                                 torch.Tensor.__matmul__)):
                self.product(*args[:2])
            return function(*args, **kwargs)

        @staticmethod
        def product(a, b):
            call = stack[-1]
            tokens = a.shape[2]
            if call[2] is None:
                if b.dim() == 4 and b.shape[3] == tokens:
                    call[2], call[3] = a, b.transpose(2, 3)
            elif a.shape[3] == tokens and b.shape[2] == tokens:
                module = call[1]
                scaling = getattr(module, "softmax_scale",
                                  getattr(module, "scaling", None))
                recorder.record(call[0], call[2], call[3], b, scaling)

    handles = []
    for layer, module in enumerate(attention_modules(model)):
        layer = getattr(module, "layer_idx", layer)
        handles.append(module.register_forward_pre_hook(
            lambda m, _, layer=layer: stack.append([layer, m, None, None])))
        handles.append(module.register_forward_hook(
            lambda *_: stack.pop() and None))
    try:
        with Products():
            yield
    finally:
        for handle in handles:
            handle.remove()


def uses_interface(model):
    """Whether the model calls a function that through_interface() replaces."""
    try:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        return False
    module = sys.modules.get(type(model).__module__)
    return (hasattr(module, "ALL_ATTENTION_FUNCTIONS") and
            model.config._attn_implementation in ALL_ATTENTION_FUNCTIONS)


def capture(model, input_ids, output_dir):
    """Runs `model` on input_ids [1, tokens] and writes a file a layer. Returns
    the shapes of q, k and v by layer."""
    import torch

    os.makedirs(output_dir, exist_ok=True)
    recorder = Recorder(output_dir)
    way = through_interface if uses_interface(model) else through_products
    model.eval()
    with torch.no_grad(), way(model, recorder):
        model(input_ids=input_ids, use_cache=False)
    layers = getattr(model.config, "num_hidden_layers", len(recorder.shapes))
    if sorted(recorder.shapes) != list(range(layers)):
        raise CaptureError(
            f"attention was seen in layers {sorted(recorder.shapes)} of "
            f"{layers}; this model's code is not understood")
    return recorder.shapes


def main(arguments):
    parser = argparse.ArgumentParser(
        description="Captures Q, K and V of a Hugging Face causal LM.")
    parser.add_argument("--model", required=True, help="folder or name")
    parser.add_argument("--text", required=True, help="file of text")
    parser.add_argument("--tokens", type=int, default=16384,
                        help="how many, from the text's start")
    parser.add_argument("--output_dir", required=True)
    parser.add_argument("--dtype", default="bfloat16",
                        choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trust_remote_code", action="store_true",
                        help="runs code that comes with the model")
    options = parser.parse_args(arguments)
    if options.tokens < 1:
        raise CaptureError(f"--tokens={options.tokens}; allowed: 1 and more")
    try:
        import torch
        import transformers
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise CaptureError(f"torch and transformers are needed: {error}")
    try:
        with open(options.text, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CaptureError(f"--text={options.text}: {error}")
    tokenizer = AutoTokenizer.from_pretrained(
        options.model, trust_remote_code=options.trust_remote_code)
    ids = tokenizer(text, return_tensors="pt").input_ids
    if ids.shape[1] < options.tokens:
        raise CaptureError(
            f"--text={options.text} has {ids.shape[1]} tokens; allowed: "
            f"{options.tokens} and more, as --tokens says")
    # Its name before and from version 5.
    old = int(transformers.__version__.split(".")[0]) < 5
    dtype = {"torch_dtype" if old else "dtype": getattr(torch, options.dtype)}
    model = AutoModelForCausalLM.from_pretrained(
        options.model, trust_remote_code=options.trust_remote_code,
        **dtype).to(options.device)
    shapes = capture(model, ids[:, :options.tokens].to(options.device),
                     options.output_dir)
    for layer, (q, k, v) in sorted(shapes.items()):
        print(f"layer_{layer}.safetensors: q {list(q)}, k {list(k)}, "
              f"v {list(v)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (CaptureError, OSError, ValueError) as failure:
        print(f"capture_hf: {failure}", file=sys.stderr)
        sys.exit(2)
