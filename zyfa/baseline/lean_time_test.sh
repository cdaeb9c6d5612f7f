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
# refuses TEXT FLAG...: status 1, and TEXT in the message.
refuses() {
  local text=$1 out
  shift
  out=$("$time" --code_object="$code" "$@" 2>&1)
  [[ $? == 1 && $out == lean_time:*"$text"* ]] || fail "$*: $out"
}
refuses --seqlen=0 --seqlen=0
refuses --heads=1025 --heads=1025
refuses "'something'" something
refuses '--code_object: none is no file' --code_object=none
refuses "--code_object: $TEST_TMPDIR is no file" --code_object="$TEST_TMPDIR"
echo text > "$TEST_TMPDIR/text.co"
refuses "--code_object: $TEST_TMPDIR/text.co: " \
  --code_object="$TEST_TMPDIR/text.co"

short=(--seqlen=65 --heads=1)
# As 'bazel run' starts it: a relative path is the user's, the default is not.
cp "$code" "$TEST_TMPDIR/own.co"
export BUILD_WORKING_DIRECTORY=$TEST_TMPDIR
for flag in --code-object=own.co --heads=1; do
  "$time" "${short[@]}" $flag >/dev/null || fail "$flag: status $?"
done
out=$("$time" "${short[@]}" 2>&1 >/dev/full)
[[ $? == 1 && $out == *"cannot be written"* ]] || fail "full device: $out"
exit 0
