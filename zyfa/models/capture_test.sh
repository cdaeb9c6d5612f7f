#!/bin/bash
# The tool as a user meets it: flags, files, exit status.
# Argument: the binary.
set -u
program=$1
models=zyfa/models/testdata
source zyfa/cli/run_program.sh || exit 1

# holds DIRECTORY COUNT: so many files.
holds() {
  local count
  count=$(find "$work/$1" -type f 2>/dev/null | wc -l)
  if [[ $count -ne $2 ]]; then
    echo "$1 holds $count files, not $2"
    failures=$((failures + 1))
  fi
}

run 0 --model=$models/gqa --segment=3 --tokens=65 --output-dir="$work/gqa/new"
holds gqa 6
has out 'layer_5.safetensors: q [65, 4, 128], k [65, 2, 128], v [65, 2, 128]'
has gqa/new/layer_0.safetensors \
  '"q":{"dtype":"BF16","shape":[65,4,128],"data_offsets":[0,66560]}'
run 0 --model=$models/mla --segment=15 --tokens=64 --output_dir="$work/mla" \
  --threads=1
holds mla 4
has mla/layer_3.safetensors \
  '"k":{"dtype":"BF16","shape":[64,4,192],"data_offsets":[98304,196608]}'
has mla/layer_3.safetensors '"v":{"dtype":"BF16","shape":[64,4,128]'

# Another segment, other numbers; the same again, the same bytes.
run 0 --model=$models/gqa --segment=4 --tokens=65 --output_dir="$work/other"
if cmp -s "$work/gqa/new/layer_5.safetensors" \
  "$work/other/layer_5.safetensors"; then
  echo 'two segments give one capture'
  failures=$((failures + 1))
fi
run 0 --model=$models/gqa --segment=3 --tokens=65 --output_dir="$work/other" \
  --threads=2 --text=$models/val_256k.txt
holds other 6
if ! cmp "$work/gqa/new/layer_5.safetensors" \
  "$work/other/layer_5.safetensors"; then
  failures=$((failures + 1))
fi

# Refused, by name, and nothing is written.
refused=(--output_dir="$work/refused")
run 2
has err '--model=DIR'
run 2 --model=$models/gqa
has err '--output_dir=DIR'
run 2 "${refused[@]}" --model=$models/absent
has err "$models/absent/config.json"
run 2 "${refused[@]}" --model=$models/gqa --tokens=0
has err 'tokens is 0; allowed: 1 .. 16384'
run 2 "${refused[@]}" --model=$models/gqa --tokens=16385
has err 'tokens is 16385'
run 2 "${refused[@]}" --model=$models/gqa --segment=16
has err 'segment is 16; allowed: 0 and more, below 16'
run 2 "${refused[@]}" --model=$models/gqa --text="$work/absent"
has err "$work/absent"
run 2 "${refused[@]}" --model=$models/gqa --threads=-1
has err '--threads=-1; allowed: 0 .. 1024'
run 2 "${refused[@]}" --model=$models/gqa extra
has err "'extra'"
run 1 "${refused[@]}" --model=$models/gqa --tokens=many
if [[ -e $work/refused ]]; then
  echo 'a refused call made its directory'
  failures=$((failures + 1))
fi
: >"$work/file"
run 2 --model=$models/gqa --tokens=1 --output_dir="$work/file"
has err "--output_dir=$work/file"

[[ $failures -eq 0 ]]
