#!/bin/bash
# Whole models as a user meets them: flags, tables, records, status.
set -u
program=$1
source zyfa/cli/run_program.sh || exit 1

# The kernel on the emulator and its model in both models, and a mix.
run 0 --segments=1 --tokens=128 --attentions=fp8_lean,emulated:fp8_lean \
  --bf16_shares=0.5 --ranking_segments=3 --ranking_tokens=16 \
  --clock_batch=1 --clock_tokens=256 --comparisons=emulated:fp8_lean-fp8_lean \
  --records="$work/records.json"
for text in 'gqa, 128 tokens of 1 segments' 'mla, 128 tokens of 1 segments' \
  'batch 1 of 256 tokens' '50.0%' 'KL from bf16' 'added bits/byte' \
  'mla: heads ranked on the last 16 tokens of segments 3, apart from those'; do
  has out "$text"
done
# By model: float32, bf16, fp8_lean by model and kernel, the mix; two
# differences.
if [[ $(wc -l <"$work/records.json") -ne 14 ]]; then
  echo "records.json has $(wc -l <"$work/records.json") lines, not 14"
  failures=$((failures + 1))
fi
for field in '"study":"STUDY_MODEL_LOSS"' '"model":"gqa"' '"model":"mla"' \
  '"computed_by":"kernel"' '"code_object_sha256":"' '"bf16_head_share":0.5' \
  '"source":"heads ranked on the last 16 tokens of segments 3' \
  '"attention_clocks":' '"modelled":true' '"gpu_time_ms":' \
  '"compared_to":"fp8_lean_d192x128_causal"' '"tokens_per_segment":128'; do
  has records.json "$field"
done
# The kernel is its model.
differences=$(grep '"compared_to":"fp8_lean_d[0-9x]*_causal"' "$work/records.json" |
  grep '"computed_by":"kernel"' | grep -c '"kl_difference":0[,}]')
if [[ $differences -ne 2 ]]; then
  echo "kernel and model give $differences times the same KL, not twice"
  grep kernel "$work/records.json"
  failures=$((failures + 1))
fi

# kl_of MODEL SHARE: of the model of fp8_lean with that share of heads in bf16.
kl_of() {
  grep "\"model\":\"$1\"" "$work/records.json" |
    grep '"computed_by":"model"' | grep "\"bf16_head_share\":$2[,}]" |
    sed -n 's/.*"kl":\([0-9.e-]*\).*/\1/p'
}
# The half that is most sensitive is more than half of the loss.
for model in gqa mla; do
  if ! awk -v all="$(kl_of $model 0)" -v half="$(kl_of $model 0.5)" \
    'BEGIN { exit !(half > 0 && half < all / 2) }'; then
    echo "$model: KL $(kl_of $model 0), with half in bf16 $(kl_of $model 0.5)"
    failures=$((failures + 1))
  fi
done

# Two segments: standard errors. A directory that ends in a slash.
run 0 --models=zyfa/models/testdata/gqa/ --segments=2 --tokens=32 \
  --attentions=bf16_other --bf16_shares= --clock_batch=0 --threads=1 \
  --records="$work/two.json"
has out ' +- '
has two.json '"kl_standard_error":'
has two.json '"added_bits_per_byte_standard_error":'
has two.json '"kl_difference_standard_error":'
has two.json '"host_threads":1'

# Bad flags: named, and nothing runs.
run 2 --attentions=fp9
has err "'fp9' is no attention"
run 2 --tokens=0
has err '--tokens=0'
run 2 --models=zyfa/models/testdata/absent
has err zyfa/models/testdata/absent/config.json
run 2 --segments=17
has err 'segment is 16; allowed: 0 and more, below 16'
run 2 --segments=1 --tokens=16 --ranking_segments=16
has err 'segment is 16; allowed'
run 2 --text="$work/absent"
has err "$work/absent"
run 2 --records="$work/absent/records.json"
has err absent/records.json
run 2 extra
has err "'extra'"
run 1 --no_such_flag

exit $((failures > 0))
