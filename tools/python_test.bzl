"""python_test: unittest cases under Debian's Python.

Not a py_test: its launcher looks for a 'python' that Debian does not have, and a
machine may have others on its PATH.
"""

def python_test(name, src, import_paths = [], data = [], **kwargs):
    """Runs the cases of `src`.

    Args:
      name: of the test.
      src: the file with the cases.
      import_paths: directories, from the root of the workspace, where modules are found.
      data: what it needs at run time.
      **kwargs: of sh_test.
    """
    native.sh_test(
        name = name,
        srcs = ["//tools:run_python_tests.py"],
        args = ["$(rootpath %s)" % src] + import_paths,
        data = data + [src],
        **kwargs
    )
