#!/bin/sh
# A written launch runs on the emulator and gives attention's output.
set -eu
launch_file=$PWD/zyfa/bench/launch_file
run=$PWD/zyfa/emu/run
cd "$TEST_TMPDIR"
status() { set +e; "$@" > stdout 2> stderr; echo $?; set -e; }
fails() {
  text=$1
  shift
  test "$(status "$launch_file" "$@")" = 2
  grep -q -e "$text" stderr || { echo "no '$text':"; cat stderr; exit 1; }
}

test "$(status "$launch_file" --variant=bf16_d128_causal --seqlen=80 \
    --batch=2 --heads=4/2 --directory=a/b)" = 0
test "$(status "$run" --launch=a/b/launch.textproto)" = 0
# 2 x 80 x 4 x 128 bf16; the first row sees one key, whose value it is.
test "$(wc -c < a/b/output.bin)" = 163840
test "$(wc -c < a/b/key.bin)" = 81920
for head in 0 1 2 3; do
  dd if=a/b/output.bin bs=256 skip=$head count=1 of=o 2> /dev/null
  dd if=a/b/value.bin bs=256 skip=$((head / 2)) count=1 of=v 2> /dev/null
  cmp o v
done
# 0xffff is what the output was filled with, a NaN.
test "$(od -An -v -tx2 -w2 a/b/output.bin | grep -c ffff)" = 0

# Other inputs by seed, the same by the same.
test "$(status "$launch_file" --variant=bf16_d128_causal --seqlen=80 \
    --batch=2 --heads=4/2 --seed=2 --directory=c)" = 0
cmp -s a/b/query.bin c/query.bin && exit 1
test "$(status "$launch_file" --variant=bf16_d128_causal --seqlen=80 \
    --batch=2 --heads=4/2 --directory=c)" = 0
cmp a/b/query.bin c/query.bin

fails '--directory is missing' --variant=bf16_d128_causal
fails '--variant is missing' --directory=d
fails '--variant=no_such_variant:' --variant=no_such_variant --directory=d
fails '--seqlen=many:' --variant=bf16_d128_causal --seqlen=many --directory=d
fails 'one of each is allowed' --variant=bf16_d128_causal --seqlen=80,90 \
    --directory=d
fails seed --variant=bf16_d128_causal --seed=-1 --directory=d
fails "unexpected argument 'more'" --variant=bf16_d128_causal --directory=d more
touch file
fails 'cannot write file/sub' --variant=bf16_d128_causal --directory=file/sub
