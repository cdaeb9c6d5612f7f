"""Attention of transformers' models, with the real library where there is one."""

import sys
import types
import unittest
from unittest import mock

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"needs PyTorch (python3-torch): {error}")

import reference
import zyfa
from zyfa import _transformers

try:
    import transformers
except ImportError:
    transformers = None

TOKENS = 70


class ReasonTest(unittest.TestCase):
    def test_what_the_kernels_cannot_take(self):
        prefill = types.SimpleNamespace(shape=(1, 4, 70, 128))
        one = types.SimpleNamespace(shape=(1, 4, 1, 128))

        def reason(query=prefill, mask=None, dropout=0.0, window=None, **keywords):
            return _transformers._reason(query, prefill, mask, dropout, window, keywords)

        self.assertIsNone(reason())
        self.assertIsNone(reason(window=70, softcap=None, position_ids=3))
        self.assertIn("attention_mask is given", reason(mask=torch.ones(1)))
        self.assertIn("dropout is 0.1", reason(dropout=0.1))
        self.assertIn("query has 1 tokens and key 70", reason(query=one))
        self.assertIn("sliding_window is 69", reason(window=69))
        self.assertIn("softcap is given", reason(softcap=50.0))
        self.assertIn("s_aux is given", reason(s_aux=torch.ones(4)))

    def test_what_register_takes(self):
        with self.assertRaisesRegex(ValueError, "fallback is 'eager'; allowed: error, sdpa"):
            zyfa.register_transformers(fallback="eager")
        with self.assertRaisesRegex(ValueError, "precision is 'fp4'"):
            zyfa.register_transformers(precision="fp4")


class Registry(dict):
    register = dict.__setitem__


class FunctionTest(unittest.TestCase):
    """What is registered, called as models call it; transformers itself is not needed."""

    def setUp(self):
        self.sdpa = mock.Mock(return_value=("sdpa", None))
        self.functions = Registry(sdpa=self.sdpa)
        self.masks = Registry(sdpa=object())
        modules = {
            "transformers": types.ModuleType("transformers"),
            "transformers.modeling_utils": types.SimpleNamespace(ALL_ATTENTION_FUNCTIONS=self.functions),
            "transformers.masking_utils": types.SimpleNamespace(ALL_MASK_ATTENTION_FUNCTIONS=self.masks),
        }
        with mock.patch.dict(sys.modules, modules):
            zyfa.register_transformers()
            zyfa.register_transformers("fp8", precision="fp8_exact", fallback="sdpa")
        torch.manual_seed(0)
        # As models have them: [batch, heads, seqlen, head_dim].
        self.query = torch.randn(2, 4, TOKENS, 128).bfloat16()
        self.key, self.value = (torch.randn(2, 2, TOKENS, 128).bfloat16() for _ in range(2))

    def error(self, name, module, causal, **keywords):
        tensors = self.query, self.key, self.value
        output, weights = self.functions[name](module, *tensors, None, scaling=0.15, **keywords)
        self.assertIsNone(weights)
        in_order = [t.transpose(1, 2) for t in tensors]
        expected, _ = reference.attention(*in_order, causal=causal, softmax_scale=0.15)
        return reference.relative_error(output, expected)

    def test_attention(self):
        decoder, encoder = types.SimpleNamespace(), types.SimpleNamespace(is_causal=False)
        self.assertLess(self.error("zyfa", decoder, True, dropout=0.0, position_ids=None), 2**-8)
        self.assertLess(self.error("zyfa", encoder, False), 2**-8)
        self.assertLess(self.error("zyfa", encoder, True, is_causal=True), 2**-8)
        self.assertGreater(self.error("fp8", decoder, True), 0.02)
        self.assertLess(self.error("fp8", decoder, True), 0.08)
        self.assertEqual(set(self.masks.values()), {self.masks["sdpa"]})
        self.assertEqual(set(self.masks), {"sdpa", "zyfa", "fp8"})
        self.sdpa.assert_not_called()

    def test_fallback(self):
        module, mask = object(), torch.ones(1)
        tensors = self.query, self.key, self.value
        with self.assertRaisesRegex(ValueError, "attention 'zyfa': attention_mask is given"):
            self.functions["zyfa"](module, *tensors, mask)
        result = self.functions["fp8"](module, *tensors, mask, scaling=0.15, is_causal=True, sliding_window=9)
        self.assertEqual(result, ("sdpa", None))
        self.sdpa.assert_called_once_with(
            module, *tensors, mask, dropout=0.0, scaling=0.15, is_causal=True, sliding_window=9
        )
        with self.assertRaisesRegex(ValueError, "s_aux is given"):
            self.functions["fp8"](module, *tensors, None, s_aux=mask)


# Small models of random weights; head dim 128.
SIZES = {
    "vocab_size": 256,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def models():
    """Names and models; the last one with latent keys and values, head dims 192 and 128."""
    for name in "Mistral", "Qwen3", "Llama":
        config = getattr(transformers, name + "Config")(head_dim=128, **SIZES)
        yield name, getattr(transformers, name + "ForCausalLM")(config)
    config = transformers.DeepseekV2Config(
        **{**SIZES, "num_key_value_heads": 4},
        q_lora_rank=None,
        kv_lora_rank=64,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        head_dim=64,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_shared_experts=1,
        moe_intermediate_size=64,
        first_k_dense_replace=2,
    )
    yield "DeepseekV2", transformers.DeepseekV2ForCausalLM(config)


@unittest.skipIf(transformers is None, "needs transformers, which Debian does not have")
class ModelTest(unittest.TestCase):
    def setUp(self):
        zyfa.register_transformers()
        zyfa.register_transformers("zyfa_fp8", precision="fp8_lean")
        zyfa.register_transformers("zyfa_or_sdpa", fallback="sdpa")
        torch.manual_seed(0)
        self.tokens = torch.randint(0, 256, (2, TOKENS))

    def logits(self, model, implementation, **keywords):
        model.set_attn_implementation(implementation)
        with torch.no_grad():
            return model(self.tokens, **keywords).logits.double()

    def test_logits(self):
        for name, model in models():
            with self.subTest(name):
                # Weights of bf16 in float32 arithmetic: what is exact but for attention.
                model = model.bfloat16().eval()
                eager = self.logits(model, "eager")
                # Two ways to round in bf16 differ by as much.
                band = reference.relative_error(self.logits(model, "sdpa"), eager)
                bf16 = reference.relative_error(self.logits(model, "zyfa"), eager)
                fp8 = reference.relative_error(self.logits(model, "zyfa_fp8"), eager)
                self.assertLess(bf16, 1.5 * band)
                self.assertGreater(bf16, 0)
                self.assertLess(fp8, 12 * band)
                self.assertGreater(fp8, 2 * band)

    def test_padding_decoding_and_windows(self):
        _, model = next(models())
        model = model.bfloat16().eval()
        full = torch.ones_like(self.tokens)
        self.logits(model, "zyfa", attention_mask=full)
        padded = full.clone()
        padded[0, :7] = 0
        with self.assertRaisesRegex(ValueError, "attention 'zyfa': attention_mask is given"):
            self.logits(model, "zyfa", attention_mask=padded)
        expected = self.logits(model, "sdpa", attention_mask=padded)
        self.assertTrue(torch.equal(self.logits(model, "zyfa_or_sdpa", attention_mask=padded), expected))

        generate = {"max_new_tokens": 4, "do_sample": False, "attention_mask": full, "pad_token_id": 0}
        model.set_attn_implementation("zyfa")
        with self.assertRaisesRegex(ValueError, "query has 1 tokens and key 71"):
            model.generate(self.tokens, **generate)
        model.set_attn_implementation("zyfa_or_sdpa")
        self.assertEqual(model.generate(self.tokens, **generate).shape, (2, TOKENS + 4))

        config = transformers.MistralConfig(head_dim=128, sliding_window=32, **SIZES)
        model = transformers.MistralForCausalLM(config).bfloat16().eval()
        with self.assertRaises(ValueError):
            self.logits(model, "zyfa")
