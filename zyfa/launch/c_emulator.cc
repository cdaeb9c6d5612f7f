#include <memory>

#include "zyfa/launch/c_device.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/launch/zyfa_emulator.h"

zyfa_status zyfa_open_emulator(zyfa_device** device) {
  return zyfa::ToC(
      std::unique_ptr<zyfa::Device>(std::make_unique<zyfa::EmulatorDevice>()),
      device);
}
