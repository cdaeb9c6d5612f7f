"""gfx_code_object: one assembly or HIP source -> a linked gfx950 code object."""

_GFX = "@zyfa//toolchains/gfx:toolchain_type"

def _run(ctx, tool, arguments, inputs, output, mnemonic):
    gfx = ctx.toolchains[_GFX].gfx
    args = ctx.actions.args()
    args.add_all(arguments)
    args.add("-o", output)
    ctx.actions.run(
        executable = tool,
        arguments = [args],
        inputs = depset(inputs, transitive = [gfx.files]),
        outputs = [output],
        env = {"LC_ALL": "C"},
        mnemonic = mnemonic,
        progress_message = mnemonic + " " + output.short_path,
    )

def _impl(ctx):
    gfx = ctx.toolchains[_GFX].gfx
    name = ctx.label.name
    asm = ctx.file.src
    if asm.extension == "hip":
        # Device code alone, with no headers but its own: what HIP's headers would
        # give comes from the compiler's built-ins.
        asm = ctx.actions.declare_file(name + ".s")
        _run(
            ctx,
            gfx.clang,
            ["-x", "hip", "--offload-device-only", "--offload-arch=" + gfx.cpu, "--no-gpu-bundle-output"] +
            ["-nogpuinc", "-nogpulib", "-nostdinc", "-std=c++20", "-fno-ident", "-O2"] + ctx.attr.copts +
            ["-I.", "-S", ctx.file.src],
            [ctx.file.src] + ctx.files.hdrs,
            asm,
            "GfxCompile",
        )
    obj = ctx.actions.declare_file(name + ".gfx.o")
    _run(
        ctx,
        gfx.clang,
        ["-target", "amdgcn-amd-amdhsa", "-mcpu=" + gfx.cpu, "-x", "assembler", "-c", asm],
        [asm],
        obj,
        "GfxAssemble",
    )
    co = ctx.actions.declare_file(name + ".co")
    _run(ctx, gfx.lld, ["-shared", "--build-id=none", obj], [obj], co, "GfxLink")
    return [DefaultInfo(files = depset([co]), runfiles = ctx.runfiles([co]))]

gfx_code_object = rule(
    implementation = _impl,
    attrs = {
        "copts": attr.string_list(doc = "more options for compiling HIP"),
        "hdrs": attr.label_list(allow_files = True),
        "src": attr.label(mandatory = True, allow_single_file = [".s", ".hip"]),
    },
    incompatible_use_toolchain_transition = True,
    toolchains = [_GFX],
)
