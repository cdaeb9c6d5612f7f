#!/bin/sh
# A program over //zyfa must not pull in LLVM, the emulator, protobuf or HIP:
# neither by its dependencies in Bazel's eyes nor in the linked file.
#   plain_program_test.sh PROGRAM DEPENDENCIES LARGER_DEPENDENCIES
set -u
program=$1 dependencies=$2 larger=$3
status=0
fail() {
    echo "FAIL: $1"
    status=1
}

forbidden='^@zyfa_llvm//|^@com_google_protobuf//|^//zyfa/(emu|proto|bench|reference|numerics)[:/]|emulator'
grep -q '^//zyfa/launch:attention$' "$dependencies" ||
    fail "the list of dependencies is not one"
grep -E "$forbidden" "$dependencies" && fail "dependencies above"
# The pattern must know an emulator when it sees one.
grep -q -E "$forbidden" "$larger" || fail "the pattern finds nothing"

"$program" || fail "the program does not run"
needed=$(readelf -d "$program" | grep NEEDED) || fail "readelf finds no libraries"
echo "$needed"
echo "$needed" | grep -i -E 'llvm|clang|protobuf|amdhip|hsa' &&
    fail "libraries above"
readelf -s --wide "$program" | grep -E 'N4zyfa3emu|4llvm|6google8protobuf' &&
    fail "symbols above"
exit $status
