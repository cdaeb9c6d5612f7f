#!/bin/bash
# The laboratory as a user meets it: capture, flags, tables, records, status.
set -u
program=$1
capture=$2
source zyfa/cli/run_program.sh || exit 1

for model in gqa mla; do
  "$capture" --model=zyfa/models/testdata/$model --segment=0 --tokens=256 \
    --output_dir="$work/$model" >/dev/null || exit 1
  # Two layers are enough here.
  rm "$work/$model"/layer_[2-9].safetensors
done

lines() {
  local count
  count=$(wc -l <"$work/records.json")
  if [[ $count -ne $1 ]]; then
    echo "records.json has $count lines, not $1"
    failures=$((failures + 1))
  fi
}

run 0 --layers="$work/gqa,$work/mla" --rows_per_head=256 \
  --records="$work/records.json"
for text in 'gqa 0     gqa 1     mla 0     mla 1  mean gqa  mean mla      mean' \
  'Error of the kernel alone' 'FP8 exact, integer maximum' \
  '99th percentile of row errors' 'Total error, INT8' 'lean / AITER-like' \
  'bar: mean <= 0.75' 'Error by stage, INT8 shift' 'Error by stage, BF16' \
  'scales of a token, both' 'blocks 8 binades' 'No FP8 kernel takes'; do
  has out "$text"
done
if grep -qE 'nan|inf| -( |$)' "$work/out"; then
  echo 'a figure is missing:'
  cat "$work/out"
  failures=$((failures + 1))
fi
# Of each layer 13 contenders, 24 stages, 32 preparations, 1 statistics.
lines $((4 * (13 + 24 + 32 + 1)))
for field in '"study":"STUDY_LAYERS"' '"study":"STUDY_STATISTICS"' \
  '"source":"mla layer 1"' '"computed_by":"model"' '"stage":"query"' \
  '"p99_row_rel_rmse":' '"low_block_share":' '"exact_p_rel_rmse":' \
  '"slow_paths":{"wave_rises":' '"rows_checked":1024' '"variant":"CK-like"' \
  '"variant":"fp8_lean_d192x128_causal"' '"value_rel_rmse":'; do
  has records.json "$field"
done
# The figures of the table are those of the records.
total=$(grep '"source":"gqa layer 1"' "$work/records.json" | grep STUDY_LAYERS |
  grep int8_shift | sed 's/.*"total_rel_rmse":\([0-9.]*\).*/\1/')
has out "$(printf '%.5f' "$total")"

# Made sets, one study, appended.
run 0 --sets=G,M --seqlen=256 --heads=1 --rows_per_head=256 \
  --studies=statistics --records="$work/records.json" --append
lines $((4 * 70 + 2))
has records.json '"source":"set M"'
has out 'set G'

# What capture_hf.py writes is read.
mkdir "$work/hf"
python3 - "$work/hf/layer_0.safetensors" <<'END' || failures=$((failures + 1))
import sys
sys.path.insert(0, "zyfa/models")
import capture_hf
one, two = b"\x80\x3f", b"\x00\x40"
capture_hf.write_safetensors(sys.argv[1], [
    ("q", (256, 4, 128), one * (256 * 4 * 128)),
    ("k", (256, 2, 128), one * (256 * 2 * 128)),
    ("v", (256, 2, 128), (one * 127 + two) * (256 * 2))])
END
run 0 --layers="$work/hf" --studies=statistics --rows_per_head=256
has out 'V, largest channel / median               2.00'

# Bad flags: named, and nothing runs.
run 2
has err 'needs --layers=FOLDER or --sets=G'
run 2 --sets=G,Q
has err '--sets=G,Q'
run 2 --sets=G --studies=layers,all
has err "has 'all'; allowed: layers, stages, preparation, statistics"
run 2 --sets=G --seqlen=many
has err '--seqlen=many'
run 2 --sets=G --heads=0
has err '--heads=0'
run 2 --sets=G --rows_per_head=300
has err '--rows_per_head is 300 of 16384; allowed: multiples of 256'
run 2 --layers="$work/gqa" --rows_per_head=512
has err 'gqa layer 0: rows_per_head is 512 of 256'
run 2 --sets=G --seed=-1
has err '--seed=-1'
run 2 --layers="$work/gqa,$work"
has err "'$work'; allowed: folders with layer_0.safetensors"
echo text >"$work/layer_0.safetensors"
run 2 --layers="$work"
has err layer_0.safetensors
run 2 --layers="$work/gqa" --studies=layers --rows_per_head=256 \
  --code_objects="$work/absent"
has err absent
run 2 --sets=G --append
has err '--append=true: needs a file, --records=FILE'
run 2 --sets=G --records="$work/absent/records.json"
has err absent/records.json
run 2 extra
has err "'extra'"

exit $((failures > 0))
