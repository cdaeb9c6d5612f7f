#!/bin/bash
# aiter_activity without AITER's code objects: what it says and returns.
set -u
activity=$1
dir=$(mktemp -d "${TEST_TMPDIR:-/tmp}/activity.XXXXXX")
failed=0

# expect STATUS TEXT ARGUMENT...
expect() {
  local status=$1 text=$2 output
  shift 2
  output=$("$activity" "$@" 2>&1)
  local got=$?
  if [[ $got != "$status" || $output != *"$text"* ]]; then
    echo "aiter_activity $*: status $got, wanted $status and '$text':"
    echo "$output"
    failed=1
  fi
}

expect 2 "--code_objects is missing"
expect 2 "no kernel of AITER in $dir/none" --code_objects="$dir/none"
# Not the table's first, and the others are not missed.
code=$dir/fmha_v3_fwd__fwd_hd128_fp8_causal.co
echo "no ELF" > "$code"
expect 2 "fmha_v3_fwd/fwd_hd128_fp8_causal: $code: " --code_objects="$dir"
expect 2 "no kernel of AITER" --code_objects="$dir" --kernel=bf16
rm "$code"
mkdir "$code"
expect 2 "$code is no file" --code-objects="$dir"
expect 2 "a regular expression is allowed" --code_objects="$dir" --kernel='('
expect 2 "unexpected argument" --code_objects="$dir" more
exit $failed
