#!/bin/bash
# The bench as a user meets it: flags, table, records, exit status.
# Arguments: the binary, and a HIP runtime that launches but computes nothing.
set -u
program=$1
fake_hip=$2
export ZYFA_HIP_LIBRARY=/absent # no GPU of this machine
source zyfa/cli/run_program.sh || exit 1

lines() {
  local count
  count=$(wc -l <"$work/$1")
  if [[ $count -ne $2 ]]; then
    echo "$1 has $count lines, not $2"
    failures=$((failures + 1))
  fi
}

# A sweep of two variants and two lengths.
short=(--device=emulator "--seqlens=1,65" --heads=2/1 --threads=2)
run 0 "${short[@]}" --variants=bf16_d128_causal,bf16_d192x128_full \
  --records="$work/records.json"
has out bf16_d128_causal
has out bf16_d192x128_full
has out modelled
has out 'rel RMSE'
has out mfma
lines err 0 # no progress bar without a terminal
lines records.json 4
for field in '"variant":"bf16_d192x128_full"' '"device":"emulator"' \
  '"modelled":true' '"batch":1' '"heads_q":2' '"heads_kv":1' '"seqlen_q":65' \
  '"seqlen_kv":65' '"rel_rmse":' '"max_abs_error":' '"mfma":"' \
  '"code_object_sha256":"' '"outcome":"OUTCOME_OK"' '"findings":0'; do
  has records.json "$field"
done

for field in '"gpu_time_ms":' '"clocks":' '"clock_ghz":' '"tflops":' \
  '"peak_share":' '"busy":' '"useful_busy":' '"useful_occupied":' '"modelled_time":{' \
  '"schedule_clocks":' '"tail_share":'; do
  has records.json "$field"
done

# FP8 inputs are quantised, and the record says how.
run 0 --device=emulator --seqlens=65 --variants=fp8_exact_d128_causal \
  --records="$work/fp8.json"
for field in '"variant":"fp8_exact_d128_causal"' \
  '"input_distribution":"gaussian, to e4m3 with a scale a tensor, softmax scale folded"' \
  '"outcome":"OUTCOME_OK"' '"findings":0' '"clock":"1.7"'; do
  has fp8.json "$field"
done
# P is rounded to 4 bits: an error of hundredths.
if ! grep -q '"rel_rmse":0\.0[1-4]' "$work/fp8.json"; then
  echo 'FP8 is off by more than its rounding, or by less'
  cat "$work/fp8.json"
  failures=$((failures + 1))
fi
has records.json '"input_distribution":"gaussian"'

one=(--device=emulator --seqlens=1 --variants=bf16_d128_full)

# The modelled time alone, of a launch that would take hours to compute.
run 0 --device=emulator --modelled_time_only --seqlens=32768 --heads=64/8 \
  --batch=16 --variants=bf16_d128_full --clock=1.5 \
  --records="$work/time.json"
has out ' 1.500 '
has time.json '"work_groups":131072'
has time.json '"clock_ghz":1.5'
has time.json '"clock":"1.5"'
if grep -q rel_rmse "$work/time.json"; then
  echo 'accuracy of what was not computed'
  failures=$((failures + 1))
fi
# The clock by what toggles: the same clocks, another time, and how much of a
# work-group says so. Long enough that memory, whose time is no clocks, is no
# bound.
small=(--device=emulator --modelled_time_only --seqlens=1024 --heads=256
  --variants=bf16_d128_full)
run 0 "${small[@]}" --records="$work/line.json"
run 0 "${small[@]}" --clock=toggling --records="$work/toggling.json"
has out 'A+B flips/clk'
has line.json '"clock":"line"'
has toggling.json '"clock":"toggling"'
# 8 waves of 16 tiles of 64 keys, 32 matrix instructions each.
has toggling.json '"flip_group_instructions":4096'
value() { grep -o "\"$2\":[0-9.]*" "$work/$1.json"; }
if [[ $(value line clocks) != $(value toggling clocks) ||
  $(value line busy) != $(value toggling busy) ||
  $(value line clock_ghz) == $(value toggling clock_ghz) ]]; then
  echo 'the clock changed clocks, or nothing'
  failures=$((failures + 1))
fi
# Constants of the model: one that is not there, and one that changes the time.
echo 'group.dispatch = 1000000' >"$work/constants"
run 0 --device=emulator --modelled-time-only --seqlens=65 --heads=512/1 \
  --variants=bf16_d128_full --cycle-constants="$work/constants" \
  --records="$work/slow.json"
has slow.json '"changed_constants":["group.dispatch = 1e+06"]'
clocks=$(sed 's/.*"clocks":\([0-9]*\).*/\1/' "$work/slow.json")
if [[ $clocks -lt 1000000 ]]; then
  echo "$clocks clocks with a million between two work-groups"
  failures=$((failures + 1))
fi
echo 'group.dispach = 1' >"$work/constants"
run 2 "${one[@]}" --cycle_constants="$work/constants"
has err 'no constant is named "group.dispach"'
run 2 "${one[@]}" --clock=3
has err 'clock is 3 GHz'
run 2 "${one[@]}" --clock=slow
has err "clock is 'slow'; allowed: line, toggling"

# Replaced, or added to.
run 0 "${one[@]}" --records="$work/records.json"
lines records.json 1
run 0 "${one[@]}" --records="$work/records.json" --append
lines records.json 2

# As 'bazel run' starts it: a relative path is the user's.
BUILD_WORKING_DIRECTORY=$work run 0 "${one[@]}" --records=relative.json
lines relative.json 1

# By default a machine without a GPU goes to the emulator, and says why.
run 0 --seqlens=1 --variants=bf16_d128_full
has err 'On the emulator: no HIP runtime'
# All variants are the default.
run 0 --device=emulator --seqlens=1
for variant in {bf16,fp8_lean,fp8_exact}_d{128,192x128}_{causal,full}; do
  has out "$variant"
done

# A table that does not get there.
"$program" "${one[@]}" >/dev/full 2>"$work/err"
if [[ $? -ne 2 ]]; then
  echo 'a full device: status 2 is missing'
  failures=$((failures + 1))
fi
has err 'gaussian: standard output cannot be written'

# Bad flags: named, and nothing runs.
run 2 --variants=bf16_d64_causal
has err '--variants=bf16_d64_causal'
run 2 --seqlens=1,x
has err '--seqlens=1,x'
run 2 --heads=3/2
has err '--heads=3/2'
run 2 --batch=0
has err '--batch=0'
run 2 --device=cuda
has err '--device=cuda'
has err 'auto, emulator, hip'
run 2 --runs=0
has err '--runs=0'
run 2 --seed=-1
has err '--seed=-1'
run 2 --append
has err '--records'
run 2 extra
has err "'extra'"
run 2 --device=hip
has err '--device=hip'
run 2 "${one[@]}" --records="$work/absent/records.json"
has err absent/records.json

# A GPU that launches but computes nothing: rows fail, and the table says so.
export ZYFA_HIP_LIBRARY=$fake_hip
run 1 --device=hip --seqlens=64 --variants=bf16_d128_full \
  --records="$work/failed.json"
has out FAILED
has failed.json '"device":"hip"'
has failed.json '"modelled":false'
has failed.json '"outcome":"OUTCOME_FAILED"'
# Nor can it tell a modelled time.
run 1 --device=hip --seqlens=64 --variants=bf16_d128_full --modelled_time_only
has out 'devices whose time is modelled'

[[ $failures -eq 0 ]]
