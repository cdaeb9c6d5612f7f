"""debian_rules: a Debian package of Starlark rules as a repository."""

load("//third_party/debian:files.bzl", "copy_tree", "need")

def _impl(rctx):
    copy_tree(rctx, need(rctx, rctx.attr.path, rctx.attr.package), ".")
    for name, edits in rctx.attr.edits.items():
        text = rctx.read(name)
        for i in range(0, len(edits), 2):
            if edits[i] not in text:
                fail("@{}: {} no longer holds the text '{}'".format(rctx.name, name, edits[i]))
            text = text.replace(edits[i], edits[i + 1])
        rctx.file(name, text, executable = False)

debian_rules = repository_rule(
    implementation = _impl,
    attrs = {
        "edits": attr.string_list_dict(doc = "file -> [old, new, old, new, ...]"),
        "package": attr.string(mandatory = True, doc = "what to install if the path is absent"),
        "path": attr.string(mandatory = True, doc = "where the package keeps the rules"),
    },
)
