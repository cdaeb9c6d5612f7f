"""The operators on the emulated device, against attention in float64."""

import math
import unittest

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"needs PyTorch (python3-torch): {error}")

import reference
import zyfa
from zyfa import _attention, _device

FLOAT8 = getattr(torch, "float8_e4m3fn", torch.uint8)

# The rounding of P to e4m3, by any kernel but those of bf16.
P_ROUNDING = 0.05


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def inputs(batch=1, seqlen_q=90, seqlen_kv=90, heads_q=2, heads_kv=1, head_dim=128):
    return (
        normal(batch, seqlen_q, heads_q, head_dim, seed=1).bfloat16(),
        normal(batch, seqlen_kv, heads_kv, head_dim, seed=2).bfloat16(),
        normal(batch, seqlen_kv, heads_kv, 128, seed=3).bfloat16(),
    )


def codes(*shape, seed):
    """e4m3 of normal numbers."""
    x = normal(*shape, seed=seed)
    if FLOAT8 != torch.uint8:
        return x.to(FLOAT8)
    every = torch.arange(127, dtype=torch.uint8)
    numbers = reference.from_e4m3(every)
    nearest = (x.abs()[..., None].double() - numbers).abs().argmin(dim=-1)
    return (nearest + 128 * (x < 0)).to(torch.uint8)


class Bf16Test(unittest.TestCase):
    def expect_right(self, query, key, value, **keywords):
        output, lse = zyfa.attention_forward(query, key, value, return_lse=True, **keywords)
        expected, expected_lse = reference.attention(query, key, value, **keywords)
        self.assertEqual(output.dtype, torch.bfloat16)
        self.assertEqual(lse.dtype, torch.float32)
        self.assertEqual(output.shape, expected.shape)
        # An output's and a weight's rounding to bf16.
        self.assertLess(reference.relative_error(output, expected), 2**-8)
        self.assertLess(float((lse - expected_lse).abs().max()), 1e-4)
        self.assertTrue(torch.equal(output, zyfa.attention_forward(query, key, value, **keywords)))

    def test_causal_and_full_with_unequal_heads_and_lengths(self):
        for causal in True, False:
            for head_dim in 128, 192:
                with self.subTest(causal=causal, head_dim=head_dim):
                    self.expect_right(
                        *inputs(batch=2, seqlen_q=70, seqlen_kv=133, heads_q=4, heads_kv=2, head_dim=head_dim),
                        causal=causal,
                    )

    def test_softmax_scale(self):
        for scale in 0.3, 0.0, -0.1:
            with self.subTest(scale=scale):
                self.expect_right(*inputs(), softmax_scale=scale)

    def test_views_are_taken_as_they_are(self):
        query, key, value = inputs(batch=2, heads_q=2, heads_kv=2)
        heads_first = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (query, key, value)]
        self.expect_right(*heads_first)
        packed = torch.stack([query, key, value], dim=3)  # [batch, seqlen, heads, 3, 128]
        self.expect_right(packed[..., 0, :], packed[..., 1, :], packed[..., 2, :])
        expanded = key[:1, :, :1].expand(2, -1, 2, -1)
        self.expect_right(query, expanded, value)
        wide = torch.full((2, 200, 2, 256), math.nan, dtype=torch.bfloat16)
        wide[:, 10:100, :, 128:] = query
        self.expect_right(wide[:, 10:100, :, 128:], key, value)

    def test_rows_without_keys_and_no_rows(self):
        query, key, value = inputs(seqlen_q=40, seqlen_kv=30)
        output, lse = zyfa.attention_forward(query, key, value, return_lse=True)
        self.assertEqual(float(output[:, :10].abs().max()), 0)
        self.assertTrue(bool((lse[:, :, :10] == -math.inf).all()))
        self.assertLess(reference.relative_error(output, reference.attention(query, key, value)[0]), 2**-8)
        for empty in query[:, :0], query[:0]:
            nothing = zyfa.attention_forward(empty, key[: len(empty)], value[: len(empty)])
            self.assertEqual(nothing.shape, empty.shape)
        output, lse = zyfa.attention_forward(query, key[:, :0], value[:, :0], return_lse=True)
        self.assertEqual(float(output.abs().max()), 0)
        self.assertTrue(bool((lse == -math.inf).all()))


class Fp8Test(unittest.TestCase):
    def setUp(self):
        self.query = codes(2, 70, 4, 128, seed=1)
        self.key = codes(2, 110, 2, 128, seed=2)
        self.value = codes(2, 110, 2, 128, seed=3)

    def numbers(self, query_descale=1.0, key_descale=1.0, value_descale=1.0):
        """What the codes stand for; descales as numbers or [batch, heads]."""

        def times(c, descale):
            x = reference.from_e4m3(c)
            return x * (descale if isinstance(descale, float) else descale[:, None, :, None].double())

        return (
            times(self.query, query_descale),
            times(self.key, key_descale),
            times(self.value, value_descale),
        )

    def expect_right(self, numbers, causal=True, **keywords):
        output, lse = zyfa.attention_forward(
            self.query, self.key, self.value, causal=causal, return_lse=True, **keywords
        )
        expected, expected_lse = reference.attention(*numbers, causal=causal)
        error = reference.relative_error(output, expected)
        self.assertLess(error, P_ROUNDING)
        self.assertGreater(error, 0.01)  # else P were not rounded
        # What single weights round to leaves a row of few keys off by up to 1 in 16 and more.
        self.assertLess(float((lse - expected_lse).abs().mean()), 0.02)

    def test_variants(self):
        for variant in "fp8_lean_d128_causal", "fp8_exact_d128_causal", "fp8_lean_d128_full":
            with self.subTest(variant=variant):
                self.expect_right(self.numbers(), causal=variant.endswith("causal"), variant=variant)

    def test_bytes_are_codes(self):
        as_is = zyfa.attention_forward(self.query, self.key, self.value)
        as_bytes = zyfa.attention_forward(*(t.view(torch.uint8) for t in (self.query, self.key, self.value)))
        self.assertTrue(torch.equal(as_is, as_bytes))

    def test_descales(self):
        self.expect_right(self.numbers(0.5, 1.5, 3.0), query_descale=0.5, key_descale=1.5, value_descale=3.0)
        by_query_head = 0.5 + torch.rand(2, 4, generator=torch.Generator().manual_seed(4))
        by_head = torch.tensor([0.7, 1.6])
        by_batch = torch.tensor([[2.0], [0.25]])
        self.expect_right(
            self.numbers(by_query_head, by_head[None].expand(2, 2), by_batch.expand(2, 2)),
            query_descale=by_query_head,
            key_descale=by_head,
            value_descale=by_batch,
        )
        strided = torch.stack([by_query_head, -by_query_head], dim=2)[..., 0]
        self.expect_right(self.numbers(by_query_head), query_descale=strided)

    def test_fp8_output(self):
        for scale in 4.0, torch.tensor([4.0]):
            output = zyfa.attention_forward(self.query, self.key, self.value, output_scale=scale)
            self.assertEqual(output.dtype, FLOAT8)
            expected, _ = reference.attention(*self.numbers())
            self.assertLess(reference.relative_error(reference.from_e4m3(output) / 4, expected), 0.06)


class Int8Test(unittest.TestCase):
    def setUp(self):
        random = torch.Generator().manual_seed(5)
        self.query = torch.randint(-40, 41, (2, 70, 4, 128), generator=random).to(torch.int8)
        self.key = torch.randint(-40, 41, (2, 110, 2, 128), generator=random).to(torch.int8)
        self.value = codes(2, 110, 2, 128, seed=3)
        self.shift = torch.randint(7, 11, (2, 4, 70), generator=random).to(torch.uint8)
        self.multiplier = torch.randint(1, 6, (2, 2, 110), generator=random).to(torch.int32)

    def expect_right(self, factor, **keywords):
        output, lse = zyfa.attention_forward(
            self.query, self.key, self.value, value_descale=0.5, return_lse=True, **keywords
        )
        expected, expected_lse = reference.attention(
            self.query, self.key, reference.from_e4m3(self.value) * 0.5, score_factor=factor
        )
        error = reference.relative_error(output, expected)
        self.assertLess(error, P_ROUNDING)
        self.assertGreater(error, 0.01)
        self.assertLess(float((lse - expected_lse).abs().mean()), 0.03)

    def test_shift(self):
        factor = 2.0 ** -(self.shift.double() + 3) * math.log(2)
        self.expect_right(factor[..., None], query_shift=self.shift)

    def test_multiply(self):
        self.shift += 2
        factor = 2.0 ** -(self.shift.double() + 3) * math.log(2)
        by_key = self.multiplier.repeat_interleave(2, dim=1).double()
        self.expect_right(
            factor[..., None] * by_key[:, :, None, :], query_shift=self.shift, key_multiplier=self.multiplier
        )


class QuantizedTest(unittest.TestCase):
    """From bf16 on: errors as in docs/quantiser.md, of normal numbers and of outlier channels."""

    def error(self, query, key, value, **keywords):
        output, lse = zyfa.attention(query, key, value, return_lse=True, **keywords)
        expected, expected_lse = reference.attention(query, key, value)
        return (
            reference.relative_error(output, expected),
            float((lse - expected_lse).abs().mean()),
        )

    def test_every_precision(self):
        for head_dim in 128, 192:
            tensors = inputs(batch=2, seqlen_q=150, seqlen_kv=150, heads_q=4, heads_kv=2, head_dim=head_dim)
            bounds = {"bf16": (0, 2**-8), "fp8_lean": (0.02, 0.06), "fp8_exact": (0.02, 0.06)}
            for precision in zyfa.PRECISIONS:
                with self.subTest(precision=precision, head_dim=head_dim):
                    least, most = bounds.get(precision, (0.02, 0.05))
                    error, lse_error = self.error(*tensors, precision=precision)
                    self.assertGreater(error, least)
                    self.assertLess(error, most)
                    self.assertLess(lse_error, 0.03)

    def test_kernels_are_those_of_the_name(self):
        tensors = inputs(seqlen_q=300, seqlen_kv=300)
        results = [zyfa.attention(*tensors, precision=p) for p in zyfa.PRECISIONS]
        for i, one in enumerate(results):
            for other in results[:i]:
                self.assertFalse(torch.equal(one, other))

    def test_rotation_helps_against_outlier_channels(self):
        query, key, value = inputs(seqlen_q=200, seqlen_kv=200)
        query[..., 5] /= 32
        key[..., 5] *= 32
        plain, _ = self.error(query, key, value, precision="int8_shift", rotate=False)
        rotated, _ = self.error(query, key, value, precision="int8_shift")
        self.assertLess(rotated, 0.7 * plain)

    def test_keys_without_their_mean(self):
        query, key, value = inputs(seqlen_q=200, seqlen_kv=200)
        key = (key + 20 * normal(128, seed=4).sign()).bfloat16()
        for precision in zyfa.PRECISIONS[1:]:
            with self.subTest(precision):
                plain, _ = self.error(query, key, value, precision=precision, rotate=False, subtract_mean=False)
                without, lse_error = self.error(query, key, value, precision=precision, rotate=False)
                self.assertLess(without, 0.7 * plain)
                # The log-sum-exp is that of the whole keys; the mean moves it by some 16.
                self.assertLess(lse_error, 0.03)

    def test_softmax_scale_and_mask(self):
        query, key, value = inputs(seqlen_q=100, seqlen_kv=140)
        for precision in zyfa.PRECISIONS[1:]:
            output = zyfa.attention(query, key, value, precision=precision, softmax_scale=0.2, causal=False)
            expected, _ = reference.attention(query, key, value, softmax_scale=0.2, causal=False)
            self.assertLess(reference.relative_error(output, expected), 0.12)

    def test_batch_entries_do_not_depend_on_each_other(self):
        query, key, value = inputs(batch=2)
        for precision in zyfa.PRECISIONS:
            both = zyfa.attention(query, torch.cat([key[:1], 50 * key[1:]]), value, precision=precision)
            one = zyfa.attention(query[:1], key[:1], value[:1], precision=precision)
            self.assertTrue(torch.equal(both[:1], one))


class RefusalTest(unittest.TestCase):
    def expect_refusal(self, words, function, *arguments, **keywords):
        with self.assertRaises(ValueError) as caught:
            function(*arguments, **keywords)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_words_of_the_library(self):
        query, key, value = inputs(heads_q=3, heads_kv=2)
        self.expect_refusal(["key.heads is 2", "divisors of query.heads, 3"], zyfa.attention_forward, query, key, value)
        self.expect_refusal(["key.heads is 2"], zyfa.attention, query, key, value, precision="int8_shift")
        query, key, value = inputs()
        refused = [
            (["variant", "bf16_d9_causal"], {"variant": "bf16_d9_causal"}),
            (["variant", "bf16_d128_full"], {"variant": "bf16_d128_full"}),
            (["softmax_scale is inf", "finite"], {"softmax_scale": math.inf}),
            (["query_descale is 0.5", "none, but for FP8 inputs"], {"query_descale": 0.5}),
            (["query_shift is a tensor", "none"], {"query_shift": torch.zeros(1, 2, 90, dtype=torch.uint8)}),
        ]
        for words, keywords in refused:
            with self.subTest(words):
                self.expect_refusal(words, zyfa.attention_forward, query, key, value, **keywords)
        self.expect_refusal(["head_dim"], zyfa.attention_forward, query[..., :64], key[..., :64], value)
        self.expect_refusal(["key.seqlen", "value.seqlen"], zyfa.attention_forward, query, key, value[:, :50])
        rows = torch.zeros(1, 90, 2, 129, dtype=torch.bfloat16)
        self.expect_refusal(["query.seq_stride is 516 bytes", "multiples of 16"], zyfa.attention_forward, rows[..., :128], key, value)
        self.expect_refusal(["address", "multiples of 16"], zyfa.attention_forward, odd_address(query), key, value)
        int8 = query.to(torch.int8), key.to(torch.int8)
        self.expect_refusal(
            ["query_shift is not given"], zyfa.attention_forward, *int8, codes(1, 90, 1, 128, seed=3)
        )
        self.expect_refusal(
            ["query.data_type is int8", "bf16"], zyfa.attention, *int8, value, precision="fp8_lean"
        )

    def test_words_of_the_package(self):
        query, key, value = inputs()
        refuse = self.expect_refusal
        refuse(["query.dtype is torch.float32", "bfloat16"], zyfa.attention_forward, query.float(), key, value)
        refuse(["key.dim() is 3", "4"], zyfa.attention_forward, query, key[0], value)
        refuse(["query.dim() is 3", "4"], zyfa.attention_forward, query[0], key, value)
        turned = query.transpose(2, 3).contiguous().transpose(2, 3)
        refuse(["query.stride(-1) is 2", "1"], zyfa.attention_forward, turned, key, value)
        scale = torch.ones(2, dtype=torch.float64)
        fp8 = [codes(1, 90, 1, 128, seed=s) for s in range(3)]
        refuse(["query_descale.dtype is torch.float64"], zyfa.attention_forward, *fp8, query_descale=scale)
        refuse(["precision is 'fp4'", "fp8_lean"], zyfa.attention, query, key, value, precision="fp4")
        with self.assertRaisesRegex(ValueError, "key.device is meta; allowed: cpu"):
            _attention._tensor("key", key.to("meta"), query, None)


def odd_address(tensor):
    """The same tensor 8 bytes behind a multiple of 16."""
    block = torch.zeros(tensor.numel() + 16, dtype=tensor.dtype)
    start = 4 if block.data_ptr() % 16 == 0 else 0
    moved = block[start : start + tensor.numel()].view(tensor.shape)
    moved.copy_(tensor)
    return moved


class OperatorTest(unittest.TestCase):
    def test_meta_tensors_give_shapes_and_types(self):
        query, key, value = inputs(batch=2, heads_q=4, heads_kv=2, head_dim=192)
        meta = [t.to("meta") for t in (query, key, value)]
        for function in zyfa.attention_forward, lambda *a, **k: zyfa.attention(*a, precision="int8_multiply", **k):
            for real, shape in zip(function(query, key, value, return_lse=True), function(*meta, return_lse=True)):
                self.assertEqual(shape.device.type, "meta")
                self.assertEqual((shape.shape, shape.dtype), (real.shape, real.dtype))
                self.assertEqual(shape.stride(), real.stride())
        fp8 = [torch.empty(1, 9, 1, 128, dtype=FLOAT8, device="meta")] * 3
        self.assertEqual(zyfa.attention_forward(*fp8, output_scale=2.0).dtype, FLOAT8)
        self.assertEqual(zyfa.attention_forward(*fp8, query_descale=2.0).dtype, torch.bfloat16)

    def test_no_silent_gradients(self):
        query, key, value = inputs()
        query.requires_grad_()
        for precision in "bf16", "fp8_exact":
            output = zyfa.attention(query, key, value, precision=precision)
            with self.assertRaisesRegex(NotImplementedError, "no backward pass"):
                output.float().sum().backward()
            with torch.no_grad():
                again = zyfa.attention(query, key, value, precision=precision)
            self.assertFalse(again.requires_grad)
            self.assertTrue(torch.equal(again, output))

    @unittest.skipUnless(hasattr(torch, "compile"), "needs PyTorch 2")
    def test_compiled_functions_have_it_as_one_operator(self):
        def twice(*tensors):
            return 2 * zyfa.attention(*tensors, precision="fp8_lean")

        tensors = inputs()
        with torch.no_grad():
            compiled = torch.compile(twice, backend="aot_eager", fullgraph=True)
            self.assertTrue(torch.equal(compiled(*tensors), twice(*tensors)))

    def test_memory_of_a_call_is_given_back(self):
        library, device = _device._emulator()
        with _device.EmulatorCall(library, device) as call:
            address = call.scratch(1000)
        with self.assertRaises(ValueError):
            library.call("zyfa_free", device, address)
