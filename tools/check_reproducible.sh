#!/bin/bash
# Builds the kernels a second time from nothing, in an output base of its own and
# without a cache, and compares the SHA-256 of every code object with that of the
# workspace's ordinary build. Status 0 only if all are equal.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
finish() {
  # If no server was started, the files still have to go.
  bazel --output_base="$scratch/base" shutdown || true
  chmod -R u+w "$scratch" # Bazel makes its outputs read-only
  rm -rf "$scratch"
}
trap finish EXIT

bazel build --symlink_prefix="$scratch/ordinary-" //zyfa:code_objects
bazel --output_base="$scratch/base" build --disk_cache= \
  --symlink_prefix="$scratch/fresh-" //zyfa:code_objects

(cd "$scratch/fresh-bin/" && find . -name '*.co' | sort | xargs -r sha256sum) |
  tee "$scratch/fresh"
if [[ ! -s $scratch/fresh ]]; then
  echo "no code objects were built" >&2
  exit 1
fi
(cd "$scratch/ordinary-bin/" && sha256sum --check "$scratch/fresh")
