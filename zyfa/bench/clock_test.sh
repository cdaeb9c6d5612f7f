#!/bin/bash
# The clock bench as a user meets it: table, records, exit status.
# Arguments: the binary, and a HIP runtime that launches but computes nothing.
set -u
program=$1
fake_hip=$2
export ZYFA_HIP_LIBRARY=/absent # no GPU of this machine
source zyfa/cli/run_program.sh || exit 1

# field VARIANT NAME: a number of the record of that variant.
field() {
  grep -F "\"variant\":\"$1\"" "$work/records.json" |
    sed -n "s/.*\"$2\":\([0-9.e+-]*\).*/\1/p"
}

# holds TEXT: an arithmetic statement is true.
holds() {
  if ! awk "BEGIN { exit !($1) }"; then
    echo "not so: $1"
    cat "$work/records.json"
    failures=$((failures + 1))
  fi
}

run 0 --device=emulator --records="$work/records.json"
for variant in clock_{bf16,fp8}_{constant,random}; do
  has out "$variant"
  has records.json "\"variant\":\"$variant\""
done
has out modelled
has out GHz
for name in '"device":"emulator"' '"modelled":true' '"clock_ghz":' \
  '"code_object_sha256":"' '"outcome":"OUTCOME_OK"' '"findings":0'; do
  has records.json "$name"
done
# The matrix pipe never waits; random bits of E4M3 flip half of 512 a clock, BF16
# with four fixed bits of sixteen three quarters of that; constants none. Clocks
# are near what is published for such loops, 2.34 and 2.07 GHz.
for format in bf16 fp8; do
  constant=clock_${format}_constant
  random=clock_${format}_random
  holds "$(field $constant busy) > 0.99 && $(field $random busy) > 0.99"
  grep -F "\"variant\":\"$constant\"" "$work/records.json" |
    grep -qF '"operand_flips_per_clock":0,' || {
    echo "$constant flips bits"
    failures=$((failures + 1))
  }
  holds "$(field $constant clock_ghz) > 2.25 && $(field $constant clock_ghz) < 2.4"
  holds "$(field $random clock_ghz) > 1.7 && $(field $random clock_ghz) < 2.15"
done
holds "$(field clock_fp8_random operand_flips_per_clock) > 254"
holds "$(field clock_fp8_random operand_flips_per_clock) < 258"
holds "$(field clock_bf16_random operand_flips_per_clock) > 190"
holds "$(field clock_bf16_random operand_flips_per_clock) < 194"

# By default a machine without a GPU goes to the emulator, and says why.
run 0
has err 'On the emulator: no HIP runtime'

# Bad flags: named, and nothing runs.
run 2 --device=cuda
has err '--device=cuda'
run 2 --trips=0
has err '--trips=0'
run 2 --seed=-1
has err '--seed=-1'
run 2 extra
has err "'extra'"
run 2 --device=hip
has err '--device=hip'
run 2 --records="$work/absent/records.json"
has err absent/records.json

# A GPU that launches but computes nothing is found out.
export ZYFA_HIP_LIBRARY=$fake_hip
run 1 --device=hip --records="$work/failed.json"
has out FAILED
has failed.json '"modelled":false'
has failed.json '"outcome":"OUTCOME_FAILED"'
has failed.json 'sum 0 is'

[[ $failures -eq 0 ]]
