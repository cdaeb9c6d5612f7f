#!/bin/bash
# The ladder as a user meets it: flags, tables, records, exit status.
set -u
program=$1
source zyfa/cli/run_program.sh || exit 1

small=(--seqlen=1024 --heads=1 --rows_per_head=256)
run 0 "${small[@]}" --sets=G,M --speed=128 --records="$work/records.json"
for text in 'set G          set M           mean' 'Total error' 'Error of P alone' \
  'INT8 shift / FP8 lean' 'INT8 multiplier / exact P' 'INT8 shift, group' \
  'Modelled, 128, gaussian' int8_multiply_d128_causal; do
  has out "$text"
done
if grep -q 'nan' "$work/out"; then
  echo 'a figure is missing:'
  cat "$work/out"
  failures=$((failures + 1))
fi
# 6 rungs of each set, and 5 kernels.
if [[ $(wc -l <"$work/records.json") -ne 17 ]]; then
  echo "records.json has $(wc -l <"$work/records.json") lines, not 17"
  failures=$((failures + 1))
fi
for field in '"input_distribution":"set M"' '"seed":100' '"quantisation":"mean' \
  '"total_rel_rmse":' '"value_rel_rmse":' '"exact_p_rel_rmse":' \
  '"slow_paths":{"wave_rises":' '"vector_clocks_per_score":4' \
  '"operand_flips_per_clock":' '"clock":"toggling"' '"rows_checked":256'; do
  has records.json "$field"
done
# The figures of the table are those of the records.
total=$(grep '"set M"' "$work/records.json" | grep int8_shift |
  sed 's/.*"total_rel_rmse":\([0-9.]*\).*/\1/')
has out "$(printf '%.5f' "$total")"

# Errors of no set, and nothing at all.
run 0 --sets= --speed=
if [[ -s $work/out ]]; then
  echo 'tables of nothing'
  failures=$((failures + 1))
fi

# Bad flags: named, and nothing runs.
run 2 --sets=G,Q
has err '--sets=G,Q'
run 2 --speed=128,64
has err "--speed=128,64: has '64'; allowed: 128, 192"
run 2 --seqlen=many
has err '--seqlen=many'
run 2 --heads=0
has err '--heads=0'
run 2 --rows_per_head=300
has err '--rows_per_head is 300 of 16384; allowed: multiples of 256'
run 2 --seqlen=256 --rows_per_head=512
has err '--rows_per_head is 512 of 256'
run 2 --seed=-1
has err '--seed=-1'
run 2 --layers="$work"
has err "--layers=$work: allowed: a folder with layer_0.safetensors"
echo text >"$work/layer_0.safetensors"
run 2 --sets= --speed= --layers="$work"
has err layer_0.safetensors
run 2 --speed_inputs=model
has err '--speed_inputs=model: allowed: gaussian, layers'
run 2 --speed_inputs=layers
has err '--speed_inputs=layers: needs captured layers'
run 2 --records="$work/absent/records.json"
has err absent/records.json
run 2 extra
has err "'extra'"

exit $((failures > 0))
