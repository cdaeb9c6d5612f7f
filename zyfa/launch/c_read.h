#ifndef ZYFA_LAUNCH_C_READ_H_
#define ZYFA_LAUNCH_C_READ_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/launch/zyfa.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// What C programs hand over, as ours. Errors are InvalidArgument, with the
// argument's name, its value and what is allowed.

// InvalidArgument for a pointer that must not be NULL.
absl::Status NullArgument(absl::string_view argument);

// Copies a struct of the caller's version into one of ours; `versions` has the
// sizes of all its versions. An older one must be a whole version, not end
// within a pointer; what a newer one has more must be 0.
template <typename Struct, size_t n>
absl::Status ReadStruct(absl::string_view argument, const Struct* from,
                        const size_t (&versions)[n], Struct& to) {
  if (from == nullptr) return NullArgument(argument);
  const size_t size = from->struct_size;
  constexpr size_t kMost = 65536;  // larger is no size but garbage
  const bool known = std::find(versions, versions + n, size) != versions + n;
  if (!known && (size < sizeof(Struct) || size > kMost)) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".struct_size is ", size,
        "; allowed: ", absl::StrJoin(versions, ", "), " to ", kMost));
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " has byte ", i, " set to ", int{bytes[i]},
                       "; allowed: 0, for this library knows only ",
                       sizeof(Struct), " bytes"));
    }
  }
  to = Struct{};
  std::memcpy(&to, from, std::min(size, sizeof(Struct)));
  return absl::OkStatus();
}

absl::Status ReadTensor(const std::string& argument, const zyfa_tensor* from,
                        TensorView& to);

// NULL: none.
absl::Status ReadLse(const std::string& argument, const zyfa_lse* from,
                     std::optional<LseView>& to);
absl::Status ReadTokens(const std::string& argument, const zyfa_tokens* from,
                        std::optional<TokenView>& to);

absl::Status ReadMask(uint32_t from, Mask& to);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_C_READ_H_
