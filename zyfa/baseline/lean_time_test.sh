#!/bin/bash
# The program: both kernels, and what it refuses.
set -u
time=$1
code=$2
fail() {
  echo "$1" >&2
  exit 1
}
clocks() {
  "$time" --code_object="$code" "$@" | sed -n 's/^modelled: .* \([0-9]*\) clocks.*/\1/p'
}
causal=$(clocks --seqlen=700 --heads=2)
full=$(clocks --seqlen=700 --heads=2 --causal=false)
longer=$(clocks --seqlen=1400 --heads=2)
[[ -n $causal && -n $full && -n $longer ]] || fail "no clocks"
((causal <= full && causal < longer)) || fail "$causal $full $longer clocks"
for bad in --seqlen=0 --heads=1025 something --code_object=none; do
  out=$("$time" --code_object="$code" $bad 2>&1)
  [[ $? == 1 && $out == lean_time:* ]] || fail "$bad: $out"
done
exit 0
