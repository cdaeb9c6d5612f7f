#!/bin/bash
# aiter_check without AITER's code objects: what it says and returns.
set -u
check=$1
dir=$(mktemp -d "${TEST_TMPDIR:-/tmp}/aiter.XXXXXX")
failed=0

# expect STATUS TEXT ARGUMENT...
expect() {
  local status=$1 text=$2 output
  shift 2
  output=$("$check" "$@" 2>&1)
  local got=$?
  if [[ $got != "$status" || $output != *"$text"* ]]; then
    echo "aiter_check $*: status $got, wanted $status and '$text':"
    echo "$output"
    failed=1
  fi
}

expect 2 "--code_objects is missing"
expect 2 "cannot list $dir/none" --code_objects="$dir/none"
expect 2 "no kernel of AITER in $dir" --code_objects="$dir"
touch "$dir/notes.txt" "$dir/fmha_v3_fwd__fwd_hd64_bf16.co"
expect 2 "fwd_hd64_bf16.co is no kernel of the table" --code_objects="$dir"
rm "$dir/fmha_v3_fwd__fwd_hd64_bf16.co"
echo "no ELF" > "$dir/fmha_v3_fwd__fwd_hd128_bf16.co"
expect 2 "$dir/fmha_v3_fwd__fwd_hd128_bf16.co: " --code_objects="$dir"
expect 2 "no kernel of AITER" --code_objects="$dir" --kernel=fp8
rm "$dir/fmha_v3_fwd__fwd_hd128_bf16.co"
mkdir "$dir/fmha_v3_fwd__fwd_hd128_bf16.co"
expect 2 "fwd_hd128_bf16.co is no file" --code-objects="$dir"
expect 2 "a regular expression is allowed" --code_objects="$dir" --kernel='('
expect 2 "unexpected argument" --code_objects="$dir" more
exit $failed
