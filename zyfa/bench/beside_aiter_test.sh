#!/bin/bash
# What beside_aiter says without AITER's files, which are not in this repository,
# and to wrong flags.
set -u
beside_aiter=$1
failures=0

# expect TEXT ARGUMENT...: exit status 2, and TEXT in what is printed, which is
# no table.
expect() {
  local text=$1
  shift
  local output
  output=$("$beside_aiter" "$@" 2>&1)
  local got=$?
  if [[ $got -ne 2 || $output != *"$text"* || $output == *Modelled* ]]; then
    echo "beside_aiter $*: status $got instead of 2, or no \"$text\" in:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

expect "/nowhere/fmha_v3_fwd__fwd_hd128_bf16_causal.co" \
  --code_objects=/nowhere --seqlens=256 --batch=1 --heads=1
expect "--code_objects is missing" --seqlens=256
echo text > "$TEST_TMPDIR/fmha_v3_fwd__fwd_hd128_bf16_causal.co"
expect "beside_aiter: INVALID_ARGUMENT: $TEST_TMPDIR/fmha_v3_fwd__fwd_hd128_bf16_causal.co: " \
  --code-objects="$TEST_TMPDIR" --seqlens=256
expect "seqlens" --seqlens=many
expect "variants" --variants=bf16_d64_causal
expect "cannot be read" --cycle_constants=/nowhere/constants
expect "unexpected argument 'more'" more

exit $((failures > 0))
