"""The kernel toolchain: declares and registers it."""

load("//third_party:define.bzl", "define")
load("//toolchains/gfx:configure.bzl", "gfx_llvm_configure")

def gfx_toolchains():
    define(gfx_llvm_configure, name = "zyfa_gfx_llvm")
    native.register_toolchains("@zyfa//toolchains/gfx:gfx_llvm_toolchain")
