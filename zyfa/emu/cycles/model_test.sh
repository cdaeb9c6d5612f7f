#!/bin/sh
# The tools as a user runs them: tables, files, exit status, messages.
set -eu
model=$PWD/zyfa/emu/cycles/model
draw=$PWD/zyfa/emu/cycles/draw_period
co=$PWD/zyfa/emu/testdata/phases.co
cd "$TEST_TMPDIR"
launch() {
  cat > launch.textproto <<END
code_object: "$co" kernel: "$1" grid { x: 3 } workgroup { x: $2 }
kernarg_bytes: 24
arg { offset: 16 u32: 10 }
END
}
status() { set +e; "$@" > stdout 2> stderr; echo $?; set -e; }
# fails STATUS TEXT ARGUMENTS...: the model ends so and names what is wrong.
fails() {
  want=$1 text=$2
  shift 2
  got=$(status "$model" "$@")
  test "$got" = "$want" || { echo "status $got: $*"; cat stderr; exit 1; }
  grep -q -e "$text" stderr || { echo "no '$text':"; cat stderr; exit 1; }
}

launch phased 512
test "$(status "$model" --launch=launch.textproto --groups=2 \
    --trace-json=trace.json --trace-passes=3 --period-csv=period.csv)" = 0
grep -q '^modelled: phased, work-group 2 ' stdout
grep -q ' 2384 instructions of 8 waves$' stdout  # 8 x (47 + 10 x 25 + 1)
for phase in entry multiply row_sums soften next_pass ending; do
  grep -q "^phase $phase " stdout
done
grep -q '^  steady state ' stdout
grep -q '^stall clk .* instruction$' stdout
grep -q ' s_barrier$' stdout
grep -q '"unit":"1 us stands for 1 shader clock"' trace.json
grep -q '^track,start,clocks,what,phase,name,address$' period.csv
cp stdout first
test "$(status "$model" --launch=launch.textproto --groups=2)" = 0
cmp stdout first
got=0
"$model" --launch=launch.textproto --groups=2 > /dev/full 2> stderr || got=$?
test "$got" = 2
grep -q 'cannot be written' stderr

# The picture: well-formed, says what it is, the same each time.
test "$(status "$draw" period.csv period.svg)" = 0
head -c 5 period.svg | grep -q '<?xml'
tail -n 1 period.svg | grep -q '</svg>'
grep -q '(modelled)' period.svg
grep -q 'phased, SIMD 0' period.svg
grep -q '>wave 4<' period.svg
grep -q '>row_sums<\|>soften<' period.svg
grep -q '>waits: barrier<' period.svg
cp period.svg first.svg
test "$(status "$draw" period.csv period.svg)" = 0
cmp period.svg first.svg
test "$(status "$draw" period.csv period.png)" = 0
echo "track,start" > no.csv
test "$(status "$draw" no.csv period.svg)" = 2
grep -q no.csv stderr
test "$(status "$draw" absent.csv period.svg)" = 2
grep -q absent.csv stderr

grep -q '"sort_index":' trace.json  # the key that viewers know
# A window instead of passes; several groups; another constant.
test "$(status "$model" --launch=launch.textproto --from-clock=100 \
    --to-clock=300 --trace-json=short.json --top=0)" = 0
test "$(wc -c < short.json)" -lt "$(wc -c < trace.json)"
test "$(status "$model" --launch=launch.textproto --groups=0,1 --resident=2)" = 0
grep -q ' of 16 waves$' stdout
launch unnamed 64
test "$(status "$model" --launch=launch.textproto)" = 0
cp stdout first
grep -q '^phase before loop ' stdout
echo 'vector.transcendental = 16 # twice' > constants.txt
test "$(status "$model" --launch=launch.textproto --constants=constants.txt)" = 0
grep -q 'constants: constants.txt$' stdout
# 11 exponentials of a pass delay the next by 8 clocks more each.
clocks() { sed -n 's/^  steady state *\([0-9]*\)\.0 .*/\1/p' "$1"; }
test $(($(clocks stdout) - $(clocks first))) = 88

fails 2 '--launch is missing'
fails 2 'absent.textproto' --launch=absent.textproto
fails 2 "--groups is '3', allowed: numbers by comma, 0 to 2" \
    --launch=launch.textproto --groups=3
fails 2 "--groups is '0,x'" --launch=launch.textproto --groups=0,x
fails 2 "--resident is '0', allowed: 1 to 32" \
    --launch=launch.textproto --resident=0
fails 2 "--top is '-1'" --launch=launch.textproto --top=-1
fails 2 "--simd is '4', allowed: 0 to 3" --launch=launch.textproto --simd=4
fails 2 "--trace_passes is '0'" --launch=launch.textproto --trace-passes=0
fails 2 "--to_clock is '5'" --launch=launch.textproto --from-clock=5 --to-clock=5
fails 2 "--wave_order is 'sideways'" \
    --launch=launch.textproto --wave-order=sideways
fails 2 "from_clock is '999999999'" --launch=launch.textproto \
  --from_clock=999999999 --period_csv=beyond.csv
fails 2 "cannot be read" --launch=launch.textproto --constants=.
fails 2 "unexpected argument 'more'" --launch=launch.textproto more
fails 1 'no_such_flag' --launch=launch.textproto --no_such_flag
fails 2 '--constants: .*absent.txt' \
    --launch=launch.textproto --constants=absent.txt
echo 'vector.transcendental = -1' > bad.txt
fails 2 '--constants: bad.txt: line 1: .*vector.transcendental' \
    --launch=launch.textproto --constants=bad.txt
echo 'no_such_constant = 1' > bad.txt
fails 2 '--constants: bad.txt: line 1: .*no_such_constant' \
    --launch=launch.textproto --constants=bad.txt
fails 2 'cannot write nowhere/trace.json' \
    --launch=launch.textproto --trace-json=nowhere/trace.json
launch phased 512
fails 2 "--resident is '5', allowed: what fits on a compute unit" \
    --launch=launch.textproto --resident=5
launch no_such_kernel 64
fails 2 no_such_kernel --launch=launch.textproto
# A finding of the emulator: the kernel cannot be replayed.
launch unnamed 64
fails 1 instruction-budget \
    --launch=launch.textproto --instruction-budget=20
