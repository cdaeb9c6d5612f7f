#include "zyfa/emu/wave_start.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/initial_sgprs.h"

namespace zyfa::emu {
namespace {

template <class T>
void Put(std::vector<uint8_t>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

uint32_t WorkItems(const LaunchShape& shape) {
  return shape.workgroup[0] * shape.workgroup[1] * shape.workgroup[2];
}

uint32_t Dimensions(const LaunchShape& shape) {
  for (uint32_t d = 3; d > 1; --d) {
    if (shape.grid[d - 1] > 1 || shape.workgroup[d - 1] > 1) return d;
  }
  return 1;
}

}  // namespace

absl::Status CheckDescriptor(const KernelInfo& kernel) {
  if ((kernel.properties & kFlatScratchInit) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", kernel.name,
                     " asks for FLAT_SCRATCH in user SGPRs (descriptor "
                     "property ",
                     uint32_t{kFlatScratchInit},
                     "); gfx950 sets it up by itself and does not allow that"));
  }
  // Allocation is in units of 8, so that up to 7 more may come behind the last
  // that a kernel uses.
  constexpr uint32_t kUnit = 8;
  const uint32_t architectural = std::min(kernel.vgprs, kernel.accum_offset);
  if (kernel.vgprs - architectural >= uint32_t{kVgprs} + kUnit) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", kernel.name, " allocates ", kernel.vgprs,
                     " vector registers with AGPRs from ", kernel.accum_offset,
                     ", which makes more than ", kVgprs, " AGPRs"));
  }
  const InitialSgprs sgprs = LayOutSgprs(kernel);
  if (sgprs.named > sgprs.user) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", kernel.name, " enables ", sgprs.named,
                     " user SGPRs but counts ", sgprs.user));
  }
  if (sgprs.preload_count > 0 &&
      4 * (sgprs.preload_first + sgprs.preload_count) > kernel.kernarg_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", kernel.name, " preloads more than its kernarg segment"));
  }
  return absl::OkStatus();
}

absl::Status FillHiddenArguments(const KernelInfo& kernel,
                                 const LaunchShape& shape,
                                 std::vector<uint8_t>& kernarg) {
  for (const KernelArgument& argument : kernel.arguments) {
    const std::string& kind = argument.value_kind;
    if (kind.compare(0, 7, "hidden_") != 0) continue;
    uint64_t value = 0;
    const size_t axis = kind.back() == 'x' ? 0 : kind.back() == 'y' ? 1 : 2;
    if (kind.compare(0, 19, "hidden_block_count_") == 0) {
      value = shape.grid[axis];
    } else if (kind.compare(0, 18, "hidden_group_size_") == 0) {
      value = shape.workgroup[axis];
    } else if (kind == "hidden_grid_dims") {
      value = Dimensions(shape);
    } else if (kind == "hidden_dynamic_lds_size") {
      value = shape.dynamic_lds_bytes;
    } else if (kind == "hidden_private_base") {
      value = kPrivateAperture >> 32;
    } else if (kind == "hidden_shared_base") {
      value = kSharedAperture >> 32;
    }
    // Remainders and global offsets are 0, as is what the emulator lacks.
    const size_t bytes = std::min<size_t>(argument.size, sizeof(value));
    if (argument.offset + bytes > kernarg.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("hidden argument ", kind, " lies beyond the kernarg"));
    }
    std::memcpy(kernarg.data() + argument.offset, &value, bytes);
  }
  return absl::OkStatus();
}

std::vector<uint8_t> DispatchPacket(const LaunchState& launch) {
  const LaunchShape& shape = launch.shape;
  std::vector<uint8_t> packet(64, 0);
  Put<uint16_t>(packet, 0, 2);  // kernel dispatch
  Put<uint16_t>(packet, 2, static_cast<uint16_t>(Dimensions(shape)));
  for (size_t d = 0; d < 3; ++d) {
    Put<uint16_t>(packet, 4 + 2 * d, static_cast<uint16_t>(shape.workgroup[d]));
    Put<uint32_t>(packet, 12 + 4 * d, shape.grid[d] * shape.workgroup[d]);
  }
  Put<uint32_t>(packet, 24, launch.kernel->private_bytes);
  Put<uint32_t>(packet, 28, launch.kernel->lds_bytes + shape.dynamic_lds_bytes);
  Put<uint64_t>(packet, 40, launch.kernarg_address);
  return packet;
}

void StartWave(const LaunchState& launch, Group& group, int index, Wave& wave) {
  const KernelInfo& kernel = *launch.kernel;
  const uint32_t architectural = std::min(kernel.vgprs, kernel.accum_offset);
  std::fill_n(wave.vgpr[0], architectural * kLanes, kGarbageVgpr);
  const uint32_t accumulation =
      std::min(kernel.vgprs - architectural, uint32_t{kVgprs});
  std::fill_n(wave.vgpr[kVgprs], accumulation * kLanes, kGarbageVgpr);
  std::fill_n(wave.sgpr, std::size(wave.sgpr), kGarbageSgpr);
  wave.group = &group;
  wave.index = index;
  wave.scc = false;
  wave.signal = WaveSignal::kNone;
  wave.error.clear();
  wave.matrix_model = launch.matrix_model;
  group.waits[index].Reset();
  group.issued[index] = 0;

  const uint32_t items = WorkItems(launch.shape);
  const uint32_t first = static_cast<uint32_t>(index) * kLanes;
  const uint32_t live = std::min<uint32_t>(kLanes, items - first);
  wave.exec = live == kLanes ? ~uint64_t{0} : (uint64_t{1} << live) - 1;

  // Components beyond those enabled are 0.
  const uint32_t components = (kernel.rsrc2 >> 11 & 3) + 1;
  const uint32_t* size = launch.shape.workgroup;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t item = first + lane;
    const uint32_t x = item % size[0];
    const uint32_t y = item / size[0] % size[1];
    const uint32_t z = item / size[0] / size[1];
    wave.vgpr[0][lane] =
        x | (components > 1 ? y << 10 : 0) | (components > 2 ? z << 20 : 0);
  }

  const InitialSgprs sgprs = LayOutSgprs(kernel);
  const auto put64 = [&wave](int sgpr, uint64_t value) {
    if (sgpr >= 0) wave.WriteScalar64(sgpr, value);
  };
  put64(sgprs.dispatch_pointer, launch.dispatch_packet_address);
  // A service of the host, so null; indirect calls make a compiler ask for it.
  put64(sgprs.queue_pointer, 0);
  put64(sgprs.kernarg_pointer, launch.kernarg_address);
  put64(sgprs.dispatch_id, 0);
  if (sgprs.private_size >= 0) {
    wave.sgpr[sgprs.private_size] = kernel.private_bytes;
  }
  if (sgprs.preload_count > 0) {
    std::memcpy(wave.sgpr + sgprs.preload,
                launch.kernarg.data() + 4 * sgprs.preload_first,
                4 * sgprs.preload_count);
  }
  for (int d = 0; d < 3; ++d) {
    if (sgprs.group_id[d] >= 0) wave.sgpr[sgprs.group_id[d]] = group.id[d];
  }

  // Firmware that preloads enters behind the prologue that would load.
  constexpr uint64_t kPreloadPrologue = 256;
  wave.pc = kernel.entry + (sgprs.preload_count > 0 ? kPreloadPrologue : 0);
  const uint32_t rsrc1 = kernel.rsrc1;
  wave.mode.bits = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 |
                   (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
}

}  // namespace zyfa::emu
