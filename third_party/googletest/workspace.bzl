"""@com_google_googletest out of Debian's libgtest-dev and libgmock-dev."""

load("//third_party:define.bzl", "define")
load("//third_party/debian:files.bzl", "LIBRARY_DIR")
load("//third_party/debian:library.bzl", "debian_library")

def googletest():
    define(
        debian_library,
        name = "com_google_googletest",
        build_file = "@zyfa//third_party/googletest:googletest.BUILD",
        copies = {
            "include/gmock": "/usr/include/gmock",
            "include/gtest": "/usr/include/gtest",
        },
        links = {
            "lib/libgmock.a": LIBRARY_DIR + "/libgmock.a",
            "lib/libgmock_main.a": LIBRARY_DIR + "/libgmock_main.a",
            "lib/libgtest.a": LIBRARY_DIR + "/libgtest.a",
        },
        package = "libgtest-dev libgmock-dev",
    )
