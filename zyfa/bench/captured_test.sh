#!/bin/bash
# Speed on captured layers as a user meets it: flags, table, records, status.
set -u
program=$1
capture=$2
source zyfa/cli/run_program.sh || exit 1

for model in gqa mla; do
  "$capture" --model=zyfa/models/testdata/$model --segment=0 --tokens=512 \
    --output_dir="$work/$model" >/dev/null || exit 1
  rm "$work/$model"/layer_[1-9].safetensors
done

run 0 --layers="$work/gqa,$work/mla" --head=1 --heads=2 \
  --records="$work/records.json"
for text in Modelled 'gaussian                   fp8_lean_d128_causal' \
  'gqa layer 0 head 1         int8_multiply_d128_causal' \
  'mla layer 0 head 1         bf16_d192x128_causal' 'flips/clk'; do
  has out "$text"
done
# 5 kernels, each on two inputs, of two head dims.
if [[ $(wc -l <"$work/records.json") -ne 20 ]]; then
  echo "records.json has $(wc -l <"$work/records.json") lines, not 20"
  failures=$((failures + 1))
fi
for field in '"study":"STUDY_CAPTURED_SPEED"' '"source":"mla layer 0 head 1"' \
  '"operand_flips_per_clock":' '"clock":"toggling"' '"clocks":' '"tflops":' \
  '"vector_clocks_per_score":4' '"computed_by":"kernel"' '"modelled":true' \
  '"quantisation":"mean' '"input_distribution":"gaussian'; do
  has records.json "$field"
done
clocks=$(grep '"source":"gqa layer 0 head 1"' "$work/records.json" |
  grep int8_shift | sed 's/.*"clocks":\([0-9]*\).*/\1/')
has out " $clocks "

run 2
has err '--layers is missing'
run 2 --layers="$work"
has err "'$work'; allowed: folders with layer_0.safetensors"
run 2 --layers="$work/gqa" --head=4
has err 'gqa layer 0: --head=4: the layer has 4 heads; allowed: 0 .. 3'
run 2 --layers="$work/gqa" --heads=0
has err '--heads=0'
run 2 --layers="$work/gqa" --threads=many
has err '--threads=many'
run 2 --layers="$work/gqa" --append
has err '--append=true: needs a file'
run 2 extra
has err "'extra'"

exit $((failures > 0))
