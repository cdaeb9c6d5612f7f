#!/bin/bash
# The program: its table and its exit status.
set -u
probe=$1
fail() {
  echo "$1" >&2
  exit 1
}
out=$("$probe" --device=emulator) || fail "status $? on the emulator"
grep -q '^modelled: ' <<<"$out" || fail "not called modelled: $out"
grep -q 'lean P: .* 126.5 ' <<<"$out" || fail "no addend of lean P: $out"
out=$("$probe" --device=emulator --matrix_model=cdna3) || fail "status $?"
grep -q 'survives from k = *16 ' <<<"$out" || fail "--matrix_model: $out"
# Sums with too few bits for the INT8 kernels' row sums.
out=$("$probe" --device=emulator --matrix_model=truncated17)
[[ $? == 1 ]] || fail "status not 1 with --matrix_model=truncated17"
grep -q 'v_smfmac.* NOT OK$' <<<"$out" || fail "nothing is wrong: $out"
out=$("$probe" --device=toaster 2>&1)
[[ $? == 2 && $out == *toaster* ]] || fail "--device=toaster: $out"
out=$("$probe" something 2>&1)
[[ $? == 2 && $out == *something* ]] || fail "an argument: $out"
out=$("$probe" --device=emulator 2>&1 >/dev/full)
[[ $? == 2 && $out == *"cannot be written"* ]] || fail "a full device: $out"
exit 0
