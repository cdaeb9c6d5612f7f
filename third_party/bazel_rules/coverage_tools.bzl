"""coverage_tools: stands in for @remote_coverage_tools.

Bazel asks for that repository with the first test target, whether or not coverage
is wanted, and would download it.
"""

_BUILD = """\
package(default_visibility = ["//visibility:public"])

[
    sh_binary(
        name = name,
        srcs = ["merger"],
    )
    for name in ["coverage_report_generator", "lcov_merger"]
]
"""

def _impl(rctx):
    rctx.symlink(rctx.attr._merger, "merger")
    rctx.file("BUILD.bazel", _BUILD, executable = False)

coverage_tools = repository_rule(
    implementation = _impl,
    attrs = {
        "_merger": attr.label(
            default = "//third_party/bazel_rules:lcov_merger.py",
            allow_single_file = True,
        ),
    },
)
