#!/bin/bash
# The program as a user meets it: flags, files, exit status, messages.
# Arguments: the binary, and a bench that writes records.
set -u
program=$1
bench=$2
source zyfa/cli/run_program.sh || exit 1

# Another Python on the PATH is of no consequence.
mkdir "$work/bin"
for name in python python3; do
  printf '#!/bin/sh\nexit 3\n' >"$work/bin/$name"
  chmod +x "$work/bin/$name"
done
export PATH=$work/bin:$PATH

export MPLCONFIGDIR=$work/matplotlib # one font cache for all runs

# Records as the bench writes them, in both forms, make the same sections.
export ZYFA_HIP_LIBRARY=/absent
for form in json binpb; do
  "$bench" --device=emulator --seqlens=1,65 --variants=bf16_d128_causal \
    --threads=1 --records="$work/bench.$form" >/dev/null || exit 1
  run 0 --records="$work/bench.$form" --out="$work/$form.html"
  has "$form.html" 'Throughput, head dim 128, causal'
  has "$form.html" "bench.$form: 2 records"
  has "$form.html" '>bf16_d128_causal, modelled<'
  sed -n '/<main>/,$p' "$work/$form.html" >"$work/$form.sections"
done
if ! cmp "$work/json.sections" "$work/binpb.sections"; then
  echo 'binary records make another page'
  failures=$((failures + 1))
fi

# Several files, by comma; without records; relative to where the user is.
: >"$work/none.json"
BUILD_WORKING_DIRECTORY=$work run 0 --records=bench.json,none.json --out=both.html
has both.html 'bench.json: 2 records'
has both.html 'none.json: 0 records'
run 0 --records="$work/none.json" --out="$work/empty.html"
has empty.html 'There are no records in these files'
has empty.html '</html>'

# What is wrong is named, and an older page is left alone.
echo old >"$work/old.html"
printf '{"variant":"a"}\n{"varaint":"a"}\n' >"$work/bad.json"
run 2 --records="$work/bench.json,$work/bad.json" --out="$work/old.html"
has err "bad.json: line 2 is no record: 'varaint' is no field of record.proto"
run 2 --records="$work/absent.json" --out="$work/old.html"
has err 'absent.json cannot be read: No such file'
run 2 --records="$work/bench.json," --out="$work/old.html"
has err 'has an empty name'
run 2 --records="$work/bench.json"
has err '--out'
run 2 --out="$work/old.html"
has err '--records'
run 2 --records="$work/bench.json" --out="$work/old.html" extra
has err 'extra'
has old.html old
run 2 --records="$work/none.json" --out="$work/absent/a.html"
has err 'absent/a.html cannot be written'
run 2 --records="$work/none.json" --out=/dev/full
has err '--out=/dev/full cannot be written'

[[ $failures -eq 0 ]]
