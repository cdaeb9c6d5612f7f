"""The table of kernels. A row is the name of a variant (zyfa/variant/variant.h)."""

VARIANTS = [
    "bf16_d128_causal",
    "bf16_d128_full",
    "bf16_d192x128_causal",
    "bf16_d192x128_full",
    "fp8_lean_d128_causal",
    "fp8_lean_d128_full",
    "fp8_lean_d192x128_causal",
    "fp8_lean_d192x128_full",
    "fp8_exact_d128_causal",
    "fp8_exact_d128_full",
    "fp8_exact_d192x128_causal",
    "fp8_exact_d192x128_full",
    "int8_shift_d128_causal",
    "int8_shift_d128_full",
    "int8_shift_d192x128_causal",
    "int8_shift_d192x128_full",
    "int8_multiply_d128_causal",
    "int8_multiply_d128_full",
    "int8_multiply_d192x128_causal",
    "int8_multiply_d192x128_full",
]
