#!/bin/bash
# What aiter_time says of bad flags; its figures need code objects that are not
# here. Argument: the binary.
set -u
aiter_time=$1
failures=0

# refuses TEXT FLAG...: status 2, and the text in the message.
refuses() {
  local text=$1 status=0 message
  shift
  message=$("$aiter_time" "$@" 2>&1 >/dev/null) || status=$?
  if [[ $status -ne 2 || $message != *"$text"* ]]; then
    echo "aiter_time $*: status $status, '$message' instead of '$text'"
    failures=$((failures + 1))
  fi
}

refuses '--code_objects is missing'
refuses '/absent/fmha_v3_fwd__fwd_hd128_bf16_causal.co is no file' \
  --code_objects=/absent
refuses '--kernels has fwd' --kernels=fwd
refuses "clock is 'slow'" --code-objects=/absent --clock=slow
refuses 'clock is 9 GHz' --code_objects=/absent --clock=9
refuses "'extra'" extra

[[ $failures -eq 0 ]]
