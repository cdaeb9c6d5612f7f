"""debian_absl: libabsl-dev as a repository with upstream's labels.

The dependencies between the static archives come from the package's own
pkg-config files: a link line gets only the archives that it needs, in an order
that a one-pass linker takes. The archives are not position-independent; what
becomes a shared library links the package's shared ones
(third_party/debian/shared_instead.bzl).
"""

load("//third_party/debian:files.bzl", "LIBRARY_DIR", "copy_tree", "need", "soname")

_PACKAGE = "libabsl-dev"

# Upstream's package -> its public targets. More can be added as they are wanted.
_TARGETS = {
    "absl/algorithm": ["algorithm", "container"],
    "absl/base": ["base", "config", "core_headers"],
    "absl/cleanup": ["cleanup"],
    "absl/container": ["btree", "fixed_array", "flat_hash_map", "flat_hash_set", "inlined_vector", "node_hash_map", "node_hash_set"],
    "absl/debugging": ["failure_signal_handler", "stacktrace", "symbolize"],
    "absl/flags": ["flag", "parse", "reflection", "usage"],
    "absl/functional": ["any_invocable", "bind_front", "function_ref"],
    "absl/hash": ["hash"],
    "absl/memory": ["memory"],
    "absl/meta": ["type_traits"],
    "absl/numeric": ["bits", "int128"],
    "absl/random": ["random"],
    "absl/status": ["status", "statusor"],
    "absl/strings": ["cord", "str_format", "strings"],
    "absl/synchronization": ["synchronization"],
    "absl/time": ["time"],
    "absl/types": ["any", "optional", "span", "variant"],
    "absl/utility": ["utility"],
}

# pkg-config names that are not absl_<target>.
_PKG_CONFIG = {
    "absl/algorithm:container": "absl_algorithm_container",
    "absl/flags:flag": "absl_flags",
    "absl/flags:parse": "absl_flags_parse",
    "absl/flags:reflection": "absl_flags_reflection",
    "absl/flags:usage": "absl_flags_usage",
    "absl/random:random": "absl_random_random",
}

_HEADERS = """\
load("@rules_cc//cc:defs.bzl", "cc_import", "cc_library")

package(default_visibility = ["//:__subpackages__"])

cc_library(
    name = "headers",
    hdrs = glob(["include/absl/**/*.h", "include/absl/**/*.inc"]),
    includes = ["include"],
)
"""

_ARCHIVE = """\
cc_import(
    name = "archive_{name}",
    shared_library = "{shared}",
    static_library = "{path}",
)
"""

_LIBRARY = """\
cc_library(
    name = "{name}",
    linkopts = {linkopts},
    deps = {deps},
)
"""

_PUBLIC = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

"""

def _read_pkg_config(rctx, path):
    """The names and the linker's arguments that a .pc file asks for."""
    requires, libs = [], []
    for line in rctx.read(path).split("\n"):
        if line.startswith("Requires:"):
            requires = [r.strip().split(" ")[0] for r in line[len("Requires:"):].split(",") if r.strip()]
        elif line.startswith("Libs:"):
            libs = [t for t in line[len("Libs:"):].split(" ") if t and not t.startswith("-L")]
    return struct(requires = requires, libs = libs)

def _library(rctx, name, info):
    """A cc_library, and a cc_import for its archive if it has one."""
    rules, deps, linkopts = [], [":headers"], []
    for lib in info.libs:
        if lib.startswith("-labsl_"):
            archive = "lib{}.a".format(lib[len("-l"):])
            rctx.symlink(need(rctx, LIBRARY_DIR + "/" + archive, _PACKAGE), "lib/" + archive)
            library = need(rctx, LIBRARY_DIR + "/lib{}.so".format(lib[len("-l"):]), _PACKAGE).realpath
            shared = "lib/" + soname(rctx, library)
            rctx.symlink(library, shared)
            rules.append(_ARCHIVE.format(name = name, path = "lib/" + archive, shared = shared))
            deps.append(":archive_" + name)
        else:
            linkopts.append(lib)
    deps += [":" + r for r in info.requires if r.startswith("absl_")]
    rules.append(_LIBRARY.format(name = name, linkopts = repr(linkopts), deps = repr(deps)))
    return "\n".join(rules)

def _impl(rctx):
    copy_tree(rctx, need(rctx, "/usr/include/absl", _PACKAGE), "include/absl")
    need(rctx, LIBRARY_DIR + "/pkgconfig/absl_base.pc", _PACKAGE)

    rules, known = [_HEADERS], {}
    for file in rctx.path(LIBRARY_DIR + "/pkgconfig").readdir():
        if file.basename.startswith("absl_") and file.basename.endswith(".pc"):
            name = file.basename[:-len(".pc")]
            known[name] = True
            rules.append(_library(rctx, name, _read_pkg_config(rctx, file)))
    rctx.file("BUILD.bazel", "\n".join(rules), executable = False)

    for package, targets in _TARGETS.items():
        rules = []
        for target in targets:
            name = _PKG_CONFIG.get(package + ":" + target, "absl_" + target)
            if name not in known:
                fail("@{}: {} has no {}.pc for //{}:{}".format(rctx.name, _PACKAGE, name, package, target))
            rules.append(_LIBRARY.format(name = target, linkopts = "[]", deps = repr(["//:" + name])))
        rctx.file(package + "/BUILD.bazel", _PUBLIC + "\n".join(rules), executable = False)
    rctx.file("WORKSPACE", "workspace(name = \"{}\")\n".format(rctx.name), executable = False)

debian_absl = repository_rule(implementation = _impl)
