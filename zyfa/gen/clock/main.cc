// Writes the assembly of one loop: clock_loop --variant=clock_fp8 --out=FILE

#include "zyfa/gen/clock/clock_loop.h"
#include "zyfa/gen/tool/generator_main.h"

int main(int argc, char** argv) {
  return zyfa::gen::GeneratorMain(argc, argv, "clock_loop",
                                  zyfa::gen::ClockLoop);
}
