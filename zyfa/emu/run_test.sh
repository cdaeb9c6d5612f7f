#!/bin/sh
# The tool as a user runs it: exit status, output buffer, summary.
set -eu
run=$PWD/zyfa/emu/run
co=$PWD/zyfa/emu/testdata/control.co
cd "$TEST_TMPDIR"
launch() {
  cat > launch.textproto <<END
code_object: "$co" kernel: "$1" grid { x: 1 } workgroup { x: 64 }
kernarg_bytes: 24
arg { offset: 0 buffer { bytes: 256 out: "out.bin" } }
arg { offset: 8 buffer { bytes: 256 } }
arg { offset: 16 u32: 64 }
END
}
status() { set +e; "$@" > stdout 2> stderr; echo $?; set -e; }

launch add_one
test "$(status "$run" --launch=launch.textproto --summary=s.json)" = 0
# 64 times 1.0f
test "$(od -An -tx4 -v out.bin | tr -d ' \n' | sed 's/3f800000//g')" = ""
test "$(wc -c < out.bin)" = 256
grep -q '"waves": 1,' s.json
grep -q '"findings": \[\]' s.json
for order in rotate alone alone-reversed; do
  for landing in wait issue; do
    test "$(status "$run" --launch=launch.textproto --wave-order=$order \
        --dma-landing=$landing --threads=2)" = 0
  done
done

for model in exact cdna3 groups64 truncated17 fma-chain; do
  test "$(status "$run" --launch=launch.textproto --matrix-model=$model)" = 0
done

launch vmcnt_missing
test "$(status "$run" --launch=launch.textproto --summary=s.json)" = 1
grep -q '"rule": "waitcnt"' s.json
grep -q waitcnt stderr

launch add_one
status=0
"$run" --launch=launch.textproto > /dev/full 2> stderr || status=$?
test "$status" = 2
grep -q 'cannot be written' stderr

launch no_such_kernel
test "$(status "$run" --launch=launch.textproto)" = 2
grep -q no_such_kernel stderr
test "$(status "$run")" = 2
test "$(status "$run" --launch=launch.textproto --wave-order=sideways)" = 2
grep -q sideways stderr
test "$(status "$run" --launch=launch.textproto --matrix-model=cdna9)" = 2
grep -q cdna9 stderr
