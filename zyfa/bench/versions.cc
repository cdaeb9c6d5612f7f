#include "zyfa/bench/versions.h"

namespace zyfa::bench {
namespace {

// One string literal, written by the build.
constexpr char kKernelToolchain[] =
#include "zyfa/bench/kernel_toolchain.inc"
    ;

#if defined(__clang__)
constexpr char kHostCompiler[] = __VERSION__;  // names itself
#else
constexpr char kHostCompiler[] = "gcc " __VERSION__;
#endif

}  // namespace

proto::Versions BuildVersions() {
  proto::Versions versions;
  versions.set_kernel_toolchain(kKernelToolchain);
  versions.set_host_compiler(kHostCompiler);
  return versions;
}

}  // namespace zyfa::bench
