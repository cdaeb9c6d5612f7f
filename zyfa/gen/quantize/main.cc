// Writes the assembly of one kernel of the quantiser:
// quantize --variant=quantize_max_d128 --out=FILE

#include "zyfa/gen/quantize/quantize_kernel.h"
#include "zyfa/gen/tool/generator_main.h"

int main(int argc, char** argv) {
  return zyfa::gen::GeneratorMain(argc, argv, "quantize",
                                  zyfa::gen::GenerateQuantizeKernel);
}
