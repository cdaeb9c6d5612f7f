"""@com_google_protobuf out of Debian's libprotobuf-dev and protobuf-compiler."""

load("//third_party:define.bzl", "define")
load("//third_party/debian:files.bzl", "LIBRARY_DIR")
load("//third_party/debian:library.bzl", "debian_library")

def protobuf():
    define(
        debian_library,
        name = "com_google_protobuf",
        build_file = "@zyfa//third_party/protobuf:protobuf.BUILD",
        copies = {"include/google/protobuf": "/usr/include/google/protobuf"},
        links = {"bin/protoc": "/usr/bin/protoc"},
        package = "libprotobuf-dev protobuf-compiler",
        shared = {"libprotobuf": LIBRARY_DIR + "/libprotobuf.so"},
    )
