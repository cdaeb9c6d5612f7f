"""@zyfa_llvm: libLLVM and its headers, which the emulator decodes with.

Not the compiler that kernels are assembled by: that is toolchains/gfx.
"""

load("//third_party:define.bzl", "define")
load("//third_party/debian:library.bzl", "debian_library")

def llvm():
    define(
        debian_library,
        name = "zyfa_llvm",
        build_file = "@zyfa//third_party/llvm:llvm.BUILD",
        links = {
            "include/llvm": "/usr/lib/llvm-22/include/llvm",
            "include/llvm-c": "/usr/lib/llvm-22/include/llvm-c",
        },
        package = "llvm-22-dev",
        shared = {"libLLVM": "/usr/lib/llvm-22/lib/libLLVM.so"},
    )
