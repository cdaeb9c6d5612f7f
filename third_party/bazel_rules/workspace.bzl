"""The Starlark rules that Bazel's own ones ask for, so that it downloads none."""

load("//third_party:define.bzl", "define")
load("//third_party/bazel_rules:coverage_tools.bzl", "coverage_tools")
load("//third_party/bazel_rules:rules.bzl", "debian_rules")

# Debian's rules_cc loads a symbol that Bazel got in 5.0; its Bazel 4.2.3 wants
# the older spelling.
_TOOLCHAIN_EDITS = [
    ", \"use_cpp_toolchain\")",
    ")",
    "use_cpp_toolchain()",
    "[\"@bazel_tools//tools/cpp:toolchain_type\"]",
]

def bazel_rules():
    """Declares them for Debian's Bazel.

    That one states no version. A released Bazel does; it brings (downloads) rules
    of its own age, which Debian's would break.
    """
    if native.bazel_version:
        return
    define(
        debian_rules,
        name = "rules_cc",
        edits = {
            "cc/private/rules_impl/cc_flags_supplier.bzl": _TOOLCHAIN_EDITS,
            "cc/private/rules_impl/compiler_flag.bzl": _TOOLCHAIN_EDITS,
        },
        package = "bazel-rules-cc",
        path = "/usr/share/bazel/rules/cc",
    )

    # No Java here, but the toolchains that Bazel registers by itself name it.
    define(
        debian_rules,
        name = "rules_java",
        package = "bazel-rules-java",
        path = "/usr/share/bazel/rules/java",
    )
    define(
        debian_rules,
        name = "rules_proto",
        package = "bazel-rules-proto",
        path = "/usr/share/bazel/rules/proto",
    )

    # For BUILD files of rules_proto.
    define(
        debian_rules,
        name = "bazel_skylib",
        package = "bazel-skylib",
        path = "/usr/share/bazel/tools/skylib",
    )
    define(coverage_tools, name = "remote_coverage_tools")
