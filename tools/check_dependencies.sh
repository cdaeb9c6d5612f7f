#!/bin/bash
# Checks the direction of dependencies between the rooms (docs/architecture.md):
# what must not know what, tests and build tools aside.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# forbid FROM TO: targets of FROM that are no tests must not depend on TO.
forbid() {
  local found
  found=$(bazel query --notool_deps --noimplicit_deps --noshow_progress \
    "deps(($1) except attr(testonly, 1, $1)) intersect ($2)")
  if [[ -n $found ]]; then
    echo "($1) must not depend on:" >&2
    echo "$found" >&2
    status=1
  fi
}

forbid //zyfa/numerics/... "//zyfa/... except //zyfa/numerics/..."
forbid //zyfa/reference/... \
  "//zyfa/... except //zyfa/numerics/... except //zyfa/variant/... except //zyfa/reference/..."
forbid //zyfa/models/... \
  "//zyfa/... except //zyfa/numerics/... except //zyfa/variant/... except //zyfa/reference/... except //zyfa/cli/... except //zyfa/models/..."
# What the generator assumes and what the emulator believes must be found out
# independently of each other.
forbid //zyfa/gen/... \
  "//zyfa/emu/... + //zyfa/kernels/... + //zyfa/launch/... + //zyfa/quantize/... + //zyfa/bench/..."
forbid //zyfa/emu/... \
  "//zyfa/gen/... + //zyfa/kernels/... + //zyfa/launch/... + //zyfa/quantize/... + //zyfa/bench/... + //zyfa/peers/..."
# Kernels of others are judged without anything of ours but emulator and reference.
forbid //zyfa/peers/... \
  "//zyfa/gen/... + //zyfa/kernels/... + //zyfa/launch/... + //zyfa/quantize/... + //zyfa/bench/..."
# The Python package is made of what ships.
forbid //zyfa/python/... \
  "//zyfa/gen/... + //zyfa/bench/... + //zyfa/peers/... + //zyfa/reference/... + //zyfa/models/... + //zyfa/proto/..."

exit $status
