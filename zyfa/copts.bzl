"""Compiler options of every C++ target here: an importer's .bazelrc sets none."""

ZYFA_COPTS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Werror",
]
