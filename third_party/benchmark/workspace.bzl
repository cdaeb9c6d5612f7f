"""@com_github_google_benchmark out of Debian's libbenchmark-dev."""

load("//third_party:define.bzl", "define")
load("//third_party/debian:files.bzl", "LIBRARY_DIR")
load("//third_party/debian:library.bzl", "debian_library")

def benchmark():
    define(
        debian_library,
        name = "com_github_google_benchmark",
        build_file = "@zyfa//third_party/benchmark:benchmark.BUILD",
        copies = {"include/benchmark": "/usr/include/benchmark"},
        links = {"lib/libbenchmark_main.a": LIBRARY_DIR + "/libbenchmark_main.a"},
        package = "libbenchmark-dev",
        shared = {"libbenchmark": LIBRARY_DIR + "/libbenchmark.so"},
    )
