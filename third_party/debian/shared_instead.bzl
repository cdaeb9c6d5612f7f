"""shared_instead: what a shared library of ours can link.

Some of Debian's static archives are not position-independent. Where a dependency
comes as such an archive and as a shared library too, the latter is taken.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _linkable(ctx, toolchain, features, library):
    if library.pic_static_library or not library.static_library or not library.dynamic_library:
        return library
    return cc_common.create_library_to_link(
        actions = ctx.actions,
        cc_toolchain = toolchain,
        dynamic_library = library.resolved_symlink_dynamic_library or library.dynamic_library,
        feature_configuration = features,
    )

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    shared, inputs = {}, []

    # All at once: the linker takes archives in this order.
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    for linker_input in merged.linking_context.linker_inputs.to_list():
        libraries = []
        for library in linker_input.libraries:
            taken = _linkable(ctx, toolchain, features, library)
            libraries.append(taken)
            if taken != library:
                shared[taken.dynamic_library] = True
        inputs.append(cc_common.create_linker_input(
            owner = linker_input.owner,
            libraries = depset(libraries),
            user_link_flags = depset(linker_input.user_link_flags),
            additional_inputs = depset(linker_input.additional_inputs),
        ))
    return [
        CcInfo(linking_context = cc_common.create_linking_context(
            linker_inputs = depset(inputs, order = "topological"),
        )),
        DefaultInfo(files = depset(shared.keys())),
    ]

shared_instead = rule(
    implementation = _impl,
    doc = "Its files are the shared libraries that were taken.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    incompatible_use_toolchain_transition = True,
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
