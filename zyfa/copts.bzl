"""Compiler options of every C++ and C target here.

They stand on the targets and not in .bazelrc, for an importing workspace has a
.bazelrc of its own.
"""

ZYFA_COPTS = [
    "-std=c++20",
    # The same bits from every compiler: a * b + c stays two roundings, also in
    # functions that are compiled for a CPU with fused multiply-add.
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Werror",
]

C_COPTS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
]
