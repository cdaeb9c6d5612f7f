#!/usr/bin/env python3
"""What PyTorch computes with the two test models, in float32.

    torch_reference.py zyfa/models/testdata

writes gqa/torch.json and mla/torch.json beside the models' weights, for
torch_reference_test.cc. Needs torch (torch.json says which one has been used);
Debian's python3-torch will do.
"""

import json
import os
import struct
import sys

import torch
from torch.nn import functional

TOKENS = 2048
SEGMENT_BYTES = 16384
LOGIT_POSITIONS = [0, 1, 1000, 2047]  # of segment 0


def read_weights(path):
    """The tensors of a safetensors file in bf16, as float32."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    weights = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "BF16", name
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        raw = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.bfloat16)
        weights[name] = raw.reshape(entry["shape"]).float()
    return weights


class Model:
    def __init__(self, directory):
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = read_weights(os.path.join(directory, "model.safetensors"))

    def linear(self, name, x):
        return functional.linear(x, self.weights[name + ".weight"])

    def norm(self, name, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean + self.config["norm_eps"]) * self.weights[name + ".weight"]

    def rope(self, x):
        """x: [tokens, heads, dim]."""
        half = x.shape[-1] // 2
        frequencies = self.config["rope_theta"] ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(x.shape[0], dtype=torch.float64)[:, None, None] * frequencies
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def qkv_gqa(self, prefix, y):
        c, tokens = self.config, len(y)
        q = self.linear(prefix + "wq", y).view(tokens, c["n_heads"], -1)
        k = self.linear(prefix + "wk", y).view(tokens, c["n_kv_heads"], -1)
        v = self.linear(prefix + "wv", y).view(tokens, c["n_kv_heads"], -1)
        repeats = c["n_heads"] // c["n_kv_heads"]
        return self.rope(q), *(x.repeat_interleave(repeats, 1) for x in (self.rope(k), v))

    def qkv_mla(self, prefix, y):
        c, tokens = self.config, len(y)
        heads, rope_dim = c["n_heads"], c["rope_dim"]
        plain = c["qk_head_dim"] - rope_dim
        q = self.linear(prefix + "wq", y).view(tokens, heads, -1)
        q = torch.cat([q[..., :plain], self.rope(q[..., plain:])], -1)
        a = self.linear(prefix + "wkv_a", y)
        rotated = self.rope(a[:, None, -rope_dim:]).expand(-1, heads, -1)
        kv = self.linear(prefix + "wkv_b", self.norm(prefix + "kv_norm", a[:, :-rope_dim]))
        kv = kv.view(tokens, heads, -1)
        return q, torch.cat([kv[..., :plain], rotated], -1), kv[..., plain:]

    def logits(self, tokens):
        qkv = self.qkv_gqa if self.config["arch"] == "gqa" else self.qkv_mla
        x = self.weights["embed.weight"][tokens]
        hidden = torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1)
        for layer in range(self.config["n_layers"]):
            prefix = f"layers.{layer}."
            q, k, v = (t.transpose(0, 1)[None] for t in qkv(prefix, self.norm(prefix + "attn_norm", x)))
            scores = q @ k.transpose(-1, -2) * self.config["softmax_scale"]
            o = torch.softmax(scores.masked_fill(hidden, float("-inf")), -1) @ v
            x = x + self.linear(prefix + "wo", o[0].transpose(0, 1).reshape(len(x), -1))
            y = self.norm(prefix + "ffn_norm", x)
            y = functional.silu(self.linear(prefix + "w1", y)) * self.linear(prefix + "w3", y)
            x = x + self.linear(prefix + "w2", y)
        return self.linear("head", self.norm("final_norm", x))


def reference(directory, text):
    model = Model(directory)
    bits, logits = [], {}
    for segment in range(len(text) // SEGMENT_BYTES):
        data = text[segment * SEGMENT_BYTES :][:TOKENS]
        targets = torch.tensor(list(data))
        tokens = torch.cat([torch.tensor([model.config["bos_id"]]), targets[:-1]])
        z = model.logits(tokens)
        loss = functional.cross_entropy(z.double(), targets) / torch.log(torch.tensor(2.0, dtype=torch.float64))
        bits.append(round(loss.item(), 8))
        if segment == 0:
            logits = {p: [float(f"{x:.7g}") for x in z[p].tolist()] for p in LOGIT_POSITIONS}
    return {"made_by": f"torch_reference.py, torch {torch.__version__}", "tokens": TOKENS,
            "bits_per_byte": bits, "logits": logits}  # fmt: skip


def main():
    directory = sys.argv[1]
    with open(os.path.join(directory, "val_256k.txt"), "rb") as file:
        text = file.read()
    for name in "gqa", "mla":
        with torch.no_grad():
            result = reference(os.path.join(directory, name), text)
        with open(os.path.join(directory, name, "torch.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(result, indent=None).replace("], ", "],\n") + "\n")


if __name__ == "__main__":
    main()
