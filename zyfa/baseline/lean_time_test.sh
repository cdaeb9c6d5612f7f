#!/bin/bash
# The program: that the assembly needs clearly fewer modelled clocks, in the
# loop and whole launches, and what is refused.
set -u
time=$1
code=$2
fail() {
  echo "$1" >&2
  exit 1
}
# clocks KERNEL FLAG...: of the launch.
clocks() {
  local kernel=$1
  shift
  "$time" --code_object="$code" "$@" |
    sed -n "s/^$kernel  *\([0-9]*\) .*/\1/p"
}
for kernel in assembly HIP; do
  causal=$(clocks $kernel --seqlen=700 --heads=2)
  full=$(clocks $kernel --seqlen=700 --heads=2 --causal=false)
  longer=$(clocks $kernel --seqlen=1400 --heads=2)
  [[ -n $causal && -n $full && -n $longer ]] || fail "no clocks of $kernel"
  ((causal < longer && full < longer)) ||
    fail "$kernel: $causal $full $longer clocks"
done
# A tile of 256 queries for each of 256 compute units: 10 % at least.
table=$("$time" --code_object="$code" --seqlen=4096 --heads=16)
echo "$table"
awk '/^HIP over assembly/ { enough = $4 >= 1.1 && $9 >= 1.1 }
  END { exit !enough }' <<<"$table" || fail "the assembly gains too little"
for bad in --seqlen=0 --heads=1025 something --code_object=none; do
  out=$("$time" --code_object="$code" $bad 2>&1)
  [[ $? == 1 && $out == lean_time:* ]] || fail "$bad: $out"
done
exit 0
