// Writes the assembly of one probe kernel: probe_kernel --variant=probe_vector
// --out=FILE

#include "zyfa/gen/probe/probe_kernels.h"
#include "zyfa/gen/tool/generator_main.h"

int main(int argc, char** argv) {
  return zyfa::gen::GeneratorMain(argc, argv, "probe_kernel",
                                  zyfa::gen::ProbeKernel);
}
