#ifndef ZYFA_REFERENCE_REFUSE_H_
#define ZYFA_REFERENCE_REFUSE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace zyfa::reference {

// InvalidArgument for an argument out of range.
template <typename T>
absl::Status Refuse(absl::string_view name, T value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed: ", allowed));
}

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_REFUSE_H_
