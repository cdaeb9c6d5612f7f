"""@com_google_absl out of Debian's libabsl-dev."""

load("//third_party:define.bzl", "define")
load("//third_party/absl:debian_absl.bzl", "debian_absl")

def absl():
    define(debian_absl, name = "com_google_absl")
