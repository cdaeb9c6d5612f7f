#!/bin/bash
# Builds the kernels a second time from nothing, in an output base of its own and
# without a cache, and compares the SHA-256 of every code object with that of the
# workspace's ordinary build. Status 0 only if all are equal.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
finish() {
  bazel --output_base="$scratch/base" shutdown || true
  chmod -R u+w "$scratch" # Bazel makes its outputs read-only
  rm -rf "$scratch"
}
trap finish EXIT

# digests NAME STARTUP_OPTION...: builds, then writes $scratch/NAME.
digests() {
  local name=$1
  shift
  bazel "$@" build --disk_cache= --symlink_prefix="$scratch/$name-" \
    //zyfa:code_objects
  (cd "$scratch/$name-bin/" && find . -name '*.co' | sort | xargs -r sha256sum) \
    >"$scratch/$name"
}

digests ordinary
digests fresh --output_base="$scratch/base"

cat "$scratch/fresh"
if [[ ! -s $scratch/fresh ]]; then
  echo "no code objects were built" >&2
  exit 1
fi
if ! diff "$scratch/ordinary" "$scratch/fresh"; then
  echo "code objects differ between two builds of the same sources" >&2
  exit 1
fi
