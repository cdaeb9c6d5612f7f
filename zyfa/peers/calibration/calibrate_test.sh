#!/bin/bash
# What calibrate does without the kernels, which are not in this repository, and
# with wrong flags.
set -u
calibrate=$1
launch_file=$2
failures=0

# expect STATUS TEXT ARGUMENT...: exit status, and TEXT in what is printed.
expect() {
  local status=$1 text=$2
  shift 2
  local output
  output=$("$calibrate" "$@" 2>&1)
  local got=$?
  if [[ $got -ne $status || $output != *"$text"* ]]; then
    echo "calibrate $*: status $got instead of $status, or no \"$text\" in:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

expect 2 "none of the kernels is there" --aiter=/nowhere --gluon=/nowhere
expect 2 "--keys is 7" --keys=7
expect 2 "unexpected argument 'more'" more
echo "lds.latency = fast" > "$TEST_TMPDIR/wrong"
expect 2 "lds.latency needs a number" --constants="$TEST_TMPDIR/wrong"
expect 2 "cannot be read" --constants=/nowhere/constants

# A file that is no code object stops it, by name.
mkdir -p "$TEST_TMPDIR/gluon"
echo "no code" > "$TEST_TMPDIR/gluon/v2_async_copy.co"
expect 2 "v2_async_copy" --gluon="$TEST_TMPDIR/gluon"

# A kernel under the name of another: arguments do not fit, and that is said.
"$launch_file" --variant=bf16_d128_full --seqlen=256 \
  --directory="$TEST_TMPDIR/own" || failures=$((failures + 1))
cp "$TEST_TMPDIR/own/kernel.co" "$TEST_TMPDIR/gluon/v2_async_copy.co"
expect 2 "v2_async_copy" --gluon="$TEST_TMPDIR/gluon" --whole-launches=false

exit $((failures > 0))
