"""debian_library: a -dev package as a repository."""

load("//third_party/debian:files.bzl", "copy_tree", "need", "soname")

def _impl(rctx):
    package = rctx.attr.package
    for target, source in rctx.attr.copies.items():
        copy_tree(rctx, need(rctx, source, package), target)
    for target, source in rctx.attr.links.items():
        rctx.symlink(need(rctx, source, package), target)

    # Under its SONAME, for by that name the loader looks in the run path that
    # Bazel gives to executables.
    names = {}
    for key, source in rctx.attr.shared.items():
        library = need(rctx, source, package).realpath
        name = "lib/" + soname(rctx, library)
        rctx.symlink(library, name)
        names["{" + key + "}"] = name
    rctx.template("BUILD.bazel", rctx.attr.build_file, names, executable = False)
    rctx.file("WORKSPACE", "workspace(name = \"{}\")\n".format(rctx.name), executable = False)

debian_library = repository_rule(
    implementation = _impl,
    doc = "Headers and libraries of a -dev package, with a BUILD file of ours.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "copies": attr.string_dict(doc = "directory in the repository -> on the system; for headers of /usr/include"),
        "links": attr.string_dict(doc = "path in the repository -> path on the system"),
        "package": attr.string(mandatory = True, doc = "what to install if a file is absent"),
        "shared": attr.string_dict(doc = "key -> shared library; '{key}' in build_file becomes its path in the repository"),
    },
)
