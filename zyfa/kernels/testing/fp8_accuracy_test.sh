#!/bin/bash
# The program without AITER's files, which are not in this repository: its table
# of a short head, and what is refused.
set -u
accuracy=$1
failures=0

# expect STATUS TEXT ARGUMENT...: exit status, and TEXT at the start of a line of
# what is printed.
expect() {
  local status=$1 text=$2
  shift 2
  local output
  output=$("$accuracy" "$@" 2>&1)
  local got=$?
  if [[ $got -ne $status || $'\n'$output != *$'\n'"$text"* ]]; then
    echo "fp8_accuracy $*: status $got instead of $status, or no \"$text\" in:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

expect 0 "M " --seqlen=64 --sets=G,M
# A refusal is all that is printed.
refused="fp8_accuracy: INVALID_ARGUMENT: "
only() {
  expect 2 "$@"
  local output
  output=$("$accuracy" "${@:2}" 2>/dev/null)
  if [[ -n $output ]]; then
    echo "fp8_accuracy ${*:2}: printed before refusing: $output"
    failures=$((failures + 1))
  fi
}
only "$refused--seqlen is 63; allowed: 64 to 65536" --seqlen=63
only "$refused--seqlen is 100000000000; allowed" --seqlen=100000000000
only "$refused--sets has 'Q'; allowed: G, M, X, V, D, E" --sets=G,Q
only "$refused--sets has ''; allowed: G, M" --sets=
only "fp8_accuracy: unexpected argument 'more'" more
code=$TEST_TMPDIR/fmha_v3_fwd__fwd_hd128_fp8_causal.co
only "fp8_accuracy: NOT_FOUND: $code is no file" --code-objects="$TEST_TMPDIR"
mkdir "$code"
only "fp8_accuracy: NOT_FOUND: $code is no file" --code_objects="$TEST_TMPDIR"
rmdir "$code"
echo text > "$code"
only "$refused$code: code object: " --code_objects="$TEST_TMPDIR"

message=$("$accuracy" --seqlen=64 --sets=G 2>&1 >/dev/full)
got=$?
if [[ $got -ne 2 || $message != *"cannot be written"* ]]; then
  echo "a full device: status $got, '$message'"
  failures=$((failures + 1))
fi

exit $((failures > 0))
