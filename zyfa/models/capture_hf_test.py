"""Tests of capture_hf.py. Those that need torch and transformers are left out
where there are none: run this file with a Python that has them."""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import capture_hf  # noqa: E402

try:
    import torch
    import transformers
except ImportError:
    torch = None


def read(path):
    """Tensors of a safetensors file: {name: (shape, bytes)}, from the format's
    description."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        assert entry["dtype"] == "BF16"
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["shape"], data[8 + length + begin:
                                              8 + length + end])
    return tensors


class WriterTest(unittest.TestCase):

    def test_comes_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "layer_0.safetensors")
            tensors = [("q", (3, 4, 2), bytes(range(48))),
                       ("k", (3, 1, 2), bytes(range(100, 112))),
                       ("v", (3, 1, 1), bytes(range(200, 206)))]
            capture_hf.write_safetensors(path, tensors)
            back = read(path)
            self.assertEqual(list(back), ["q", "k", "v"])
            for name, shape, data in tensors:
                self.assertEqual(back[name], (list(shape), data))
            self.assertEqual(os.listdir(folder), ["layer_0.safetensors"])
            with open(path, "rb") as file:
                self.assertEqual(struct.unpack("<Q", file.read(8))[0] % 8, 0)

    def test_refuses_what_does_not_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with self.assertRaisesRegex(capture_hf.CaptureError,
                                        "'q' has 5 bytes; allowed: 4"):
                capture_hf.write_safetensors(path, [("q", (1, 1, 2), bytes(5))])
            with self.assertRaisesRegex(capture_hf.CaptureError, "two tensors"):
                capture_hf.write_safetensors(path, [("q", (1,), bytes(2))] * 2)
            self.assertEqual(os.listdir(folder), [])

    def test_shapes(self):
        capture_hf.check_shapes(0, (7, 4, 192), (7, 2, 192), (7, 2, 128))
        for q, k, v in [((7, 4, 128), (6, 2, 128), (7, 2, 128)),
                        ((7, 4, 128), (7, 3, 128), (7, 3, 128)),
                        ((7, 4, 128), (7, 2, 64), (7, 2, 128)),
                        ((7, 4, 128), (7, 2, 128), (7, 4, 128)),
                        ((7, 4), (7, 2, 128), (7, 2, 128)),
                        ((7, 4, 0), (7, 2, 0), (7, 2, 128))]:
            with self.assertRaisesRegex(capture_hf.CaptureError, "layer 3: q"):
                capture_hf.check_shapes(3, q, k, v)

    def test_repeated_heads(self):
        def of(heads, q):
            return capture_hf.distinct_heads(
                lambda a, b: heads[a] == heads[b], q, len(heads))
        self.assertEqual(of("aabb", 4), 2)
        self.assertEqual(of("aaaa", 4), 1)
        self.assertEqual(of("abcd", 4), 4)
        self.assertEqual(of("aab", 3), 3)
        self.assertEqual(of("aabc", 4), 4)
        self.assertEqual(of("aa", 4), 2)  # were not repeated

    def test_program_refuses(self):
        for flags, message in [
                (["--tokens=0"], "--tokens=0; allowed: 1 and more"),
                ([], "torch and transformers are needed" if torch is None else
                 "--text=/absent")]:
            done = subprocess.run(
                [sys.executable, os.path.join(FOLDER, "capture_hf.py"),
                 "--model=/absent", "--text=/absent", "--output_dir=/absent",
                 *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


def tensor(entry):
    shape, data = entry
    bits = torch.frombuffer(bytearray(data), dtype=torch.int16)
    return bits.view(torch.bfloat16).double().reshape(shape)


def causal_attention(q, k, v):
    """[tokens, heads, dim] in float64; each query head has its KV head."""
    tokens, heads, dim = q.shape
    k, v = [x.repeat_interleave(heads // x.shape[1], dim=1) for x in (k, v)]
    scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(dim)
    mask = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    return torch.einsum("hqk,khd->qhd", weights, v)


@unittest.skipIf(torch is None, "no torch and transformers here")
class ModelTest(unittest.TestCase):
    """Small models with random weights: attention of what was captured is what
    the model's own layers hand on to their output projection."""

    TOKENS = 70

    def check(self, config, shapes, repeated=False):
        torch.manual_seed(1)
        model = transformers.AutoModelForCausalLM.from_config(config).float()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if "q_proj" in name or "kv_b" in name or "k_proj" in name:
                    weight *= 12  # so that attention is not flat
        outputs, handles = {}, []
        for layer, module in enumerate(
                m for n, m in model.named_modules() if n.endswith("o_proj")):
            handles.append(module.register_forward_pre_hook(
                lambda _, args, layer=layer: outputs.__setitem__(
                    layer, args[0][0].double())))
        ids = torch.randint(0, config.vocab_size, (1, self.TOKENS))
        with tempfile.TemporaryDirectory() as folder:
            got = capture_hf.capture(model, ids, folder)
            for handle in handles:
                handle.remove()
            self.assertEqual(sorted(got), [0, 1])
            for layer in got:
                self.assertEqual([tuple(s) for s in got[layer]], shapes)
                back = read(os.path.join(folder, f"layer_{layer}.safetensors"))
                q, k, v = [tensor(back[name]) for name in "qkv"]
                want = outputs[layer].reshape(self.TOKENS, q.shape[1], -1)
                attention = causal_attention(q, k, v)
                error = (attention - want).norm() / want.norm()
                # Q, K and V are rounded to 8 bits.
                self.assertLess(error, 0.02)
                # Flat attention or another order of heads would not do.
                flat = causal_attention(q * 0, k, v)
                self.assertGreater((flat - want).norm() / want.norm(), 0.2)
                turned = causal_attention(q.roll(1, dims=1), k, v)
                self.assertGreater((turned - want).norm() / want.norm(), 0.2)

    COMMON = dict(vocab_size=97, hidden_size=64, intermediate_size=96,
                  num_hidden_layers=2, max_position_embeddings=256)

    def mistral(self, **more):
        return transformers.MistralConfig(
            num_attention_heads=4, num_key_value_heads=2, head_dim=128,
            sliding_window=None, **{**self.COMMON, **more})

    GQA = [(TOKENS, 4, 128), (TOKENS, 2, 128), (TOKENS, 2, 128)]

    def test_mistral(self):
        self.check(self.mistral(attn_implementation="sdpa"), self.GQA)

    def test_mistral_that_multiplies_itself(self):
        self.check(self.mistral(attn_implementation="eager"), self.GQA)

    def test_mistral_with_a_window(self):
        config = self.mistral(attn_implementation="sdpa")
        config.sliding_window = 32
        with self.assertRaisesRegex(capture_hf.CaptureError,
                                    "window of 32 tokens"):
            self.check(config, self.GQA)

    def test_qwen3(self):
        self.check(transformers.Qwen3Config(
            num_attention_heads=4, num_key_value_heads=2, head_dim=128,
            attn_implementation="sdpa", **self.COMMON), self.GQA)

    def deepseek(self, **more):
        return transformers.DeepseekV2Config(
            num_attention_heads=4, num_key_value_heads=4, kv_lora_rank=48,
            q_lora_rank=None, qk_nope_head_dim=128, qk_rope_head_dim=64,
            v_head_dim=128, first_k_dense_replace=2, n_routed_experts=2,
            num_experts_per_tok=1, n_shared_experts=1, moe_intermediate_size=32,
            n_group=1, topk_group=1, **{**self.COMMON, **more})

    MLA = [(TOKENS, 4, 192), (TOKENS, 4, 192), (TOKENS, 4, 128)]

    def test_deepseek_v2(self):
        self.check(self.deepseek(attn_implementation="sdpa"), self.MLA)

    def test_deepseek_v2_that_multiplies_itself(self):
        self.check(self.deepseek(attn_implementation="eager"), self.MLA)

    def test_another_softmax_scale(self):
        # YaRN of DeepSeek multiplies the scale.
        scaling = {"rope_type": "yarn", "factor": 4.0, "mscale": 1.0,
                   "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1,
                   "original_max_position_embeddings": 64, "rope_theta": 1e4}
        version = int(transformers.__version__.split(".")[0])
        name = "rope_parameters" if version >= 5 else "rope_scaling"
        self.check(self.deepseek(attn_implementation="sdpa",
                                 **{name: scaling}), self.MLA)

    def test_program(self):
        from tokenizers import Tokenizer, models, pre_tokenizers

        words = Tokenizer(models.WordLevel({"a": 1, "b": 2, "?": 0}, "?"))
        words.pre_tokenizer = pre_tokenizers.Whitespace()
        with tempfile.TemporaryDirectory() as folder:
            model = transformers.AutoModelForCausalLM.from_config(
                self.mistral())
            model.save_pretrained(folder)
            transformers.PreTrainedTokenizerFast(
                tokenizer_object=words).save_pretrained(folder)
            text = os.path.join(folder, "text")
            with open(text, "w", encoding="utf-8") as file:
                file.write("a b b " * 10)
            flags = [f"--model={folder}", f"--text={text}",
                     f"--output_dir={folder}/out"]
            capture_hf.main([*flags, "--tokens=20"])
            self.assertEqual(sorted(os.listdir(folder + "/out")),
                             ["layer_0.safetensors", "layer_1.safetensors"])
            shape, _ = read(folder + "/out/layer_1.safetensors")["q"]
            self.assertEqual(shape, [20, 4, 128])
            with self.assertRaisesRegex(capture_hf.CaptureError,
                                        "has 30 tokens; allowed: 31 and more"):
                capture_hf.main([*flags, "--tokens=31"])


if __name__ == "__main__":
    unittest.main()
