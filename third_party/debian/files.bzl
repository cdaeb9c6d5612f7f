"""Helpers of repository rules: files of the system, by package."""

# Where Debian keeps libraries; kernels and emulator know x86-64 hosts only.
LIBRARY_DIR = "/usr/lib/x86_64-linux-gnu"

def need(rctx, path, package):
    """The system's file `path`; fails with the package to install if absent."""
    found = rctx.path(path)
    if not found.exists:
        fail("\n\n@{}: {} is missing. Install it with:\n    sudo apt-get install {}\n".format(
            rctx.name,
            path,
            package,
        ))
    return found

def copy_tree(rctx, source, target):
    """Copies a directory, links followed.

    Headers of /usr/include are copied and not linked, so that --config=strict can
    hide the originals and so catch a missing dependency.
    """
    for command in [
        ["mkdir", "-p", target],
        ["cp", "-rL", "--no-preserve=mode", str(source) + "/.", target],
    ]:
        result = rctx.execute(command)
        if result.return_code:
            fail("@{}: {}".format(rctx.name, result.stderr))

def soname(rctx, path):
    """The name that a shared library goes by."""
    for line in rctx.execute(["objdump", "-p", str(path)]).stdout.split("\n"):
        if line.strip().startswith("SONAME"):
            return line.strip().split(" ")[-1]
    fail("@{}: {} has no SONAME (is binutils installed?)".format(rctx.name, path))
