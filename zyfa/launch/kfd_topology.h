#ifndef ZYFA_LAUNCH_KFD_TOPOLOGY_H_
#define ZYFA_LAUNCH_KFD_TOPOLOGY_H_

#include <string>
#include <vector>

namespace zyfa {

// Where Linux' amdgpu driver describes the machine's compute devices.
inline constexpr char kKfdTopology[] = "/sys/class/kfd/kfd/topology/nodes";

// The architectures ("gfx942") of the machine's AMD GPUs in the driver's order:
// field gfx_target_version of every NODE/properties below `directory`. Empty
// where there is no such driver; nodes without a GPU are left out.
std::vector<std::string> MachineArchitectures(
    const std::string& directory = kKfdTopology);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_KFD_TOPOLOGY_H_
