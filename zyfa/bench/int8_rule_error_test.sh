#!/bin/bash
# The program as a user meets it. Argument: the binary.
set -u
program=$1
source zyfa/cli/run_program.sh || exit 1

run 0 --seqlen=1024 --sets=M --heads=1 --groups=1
has out 'S = 1024'
for form in shift multiplier; do
  for rule in "kernels'" 'no probe' 'no moves' 'slack 6, period 16' \
    'rises and falls'; do
    has out "$(printf 'M        %-10s %-18s 0.0' "$form" "$rule")"
  done
done

run 0 --seqlen=1024 --sets=M --heads=1 --groups=1 --parts
has out 'shift      start of move 4'

# A layer of 1100 tokens: 4 heads of Q, 2 of K and V, whose shapes are the
# file's; all numbers are the bf16 1.
header='{"q":{"dtype":"BF16","shape":[1100,4,128],"data_offsets":[0,1126400]},'
header+='"k":{"dtype":"BF16","shape":[1100,2,128],"data_offsets":[1126400,1689600]},'
header+='"v":{"dtype":"BF16","shape":[1100,2,128],"data_offsets":[1689600,2252800]}}'
mkdir "$work/layers"
{
  # Its length in 8 bytes, little-endian.
  size=${#header}
  printf "\\x$(printf %02x $((size & 255)))\\x$(printf %02x $((size >> 8)))"
  printf '\0\0\0\0\0\0%s' "$header"
  yes "$(printf '\x80\x3f')" | tr -d '\n' | head -c 2252800
} >"$work/layers/layer_0.safetensors"
run 0 --seqlen=1024 --heads=3 --groups=1 --layers="$work/layers"
has out 'layer_0  shift'
has out 'layer_0  multiplier'
BUILD_WORKING_DIRECTORY=$work run 0 --seqlen=1024 --heads=1 --groups=1 \
  --layers=layers
run 2 --layers="$work/layers"
has err '--seqlen=16384; allowed: up to the 1100 tokens'
run 2 --layers="$work/absent"
has err 'absent/layer_0.safetensors'

run 2 --seqlen=1023
has err '--seqlen=1023; allowed: 1024 .. 1048576'
run 2 --heads=0
has err '--heads=0; allowed: 1 .. 64'
run 2 --seqlen=1024 --groups=5
has err 'groups is 5; allowed: 1 .. 4'
run 2 --seqlen=1024 --sets=M,Q --groups=1 --heads=1
has err "name is 'Q'"
run 2 extra
has err "'extra'"

[[ $failures -eq 0 ]]
