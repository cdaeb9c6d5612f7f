"""Kernels broken on purpose."""

load("//toolchains/gfx:code_object.bzl", "gfx_code_object")

def mutant(name, variant, flags):
    """NAME.co: the kernel of `variant` after mutate_assembly with `flags`."""
    native.genrule(
        name = name + "_asm",
        testonly = True,
        outs = [name + ".s"],
        cmd = ("$(location //zyfa/gen) --variant={} --out=$@.whole && " +
               "$(location :mutate_assembly) --in=$@.whole --out=$@ {}").format(
            variant,
            " ".join(["'" + flag + "'" for flag in flags]),
        ),
        # In the configuration that the kernels' own rule builds the generator in.
        exec_tools = [
            ":mutate_assembly",
            "//zyfa/gen",
        ],
    )
    gfx_code_object(
        name = name,
        testonly = True,
        src = name + ".s",
    )
