#include "zyfa/probe/comparison.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::probe {

void Comparison::Add(const std::string& of, bool same, const std::string& seen,
                     const std::string& formula) {
  ++count_;
  if (same || others_++ > 0) return;
  first_other_ = absl::StrCat(of, ": ", seen, ", not ", formula);
}

void Comparison::Add(const std::string& of, double seen, double formula) {
  // All of a 32-bit number's digits.
  const auto text = [](double x) { return absl::StrFormat("%.10g", x); };
  Add(of, seen == formula, text(seen), text(formula));
}

void Comparison::AddBits(const std::string& of, uint32_t seen,
                         uint32_t formula) {
  const auto text = [](uint32_t x) { return absl::StrFormat("%08x", x); };
  Add(of, seen == formula, text(seen), text(formula));
}

std::string Comparison::Seen() const {
  if (others_ == 0) return absl::StrCat("all ", count_);
  return absl::StrCat(count_ - others_, " of ", count_, "; ", first_other_);
}

Fact Comparison::Needed(const std::string& name) const {
  return {name, Seen(), absl::StrCat("all ", count_),
          others_ == 0 ? Verdict::kOk : Verdict::kNotOk};
}

Fact Comparison::Informative(const std::string& name) const {
  return {name, Seen(), "", Verdict::kInformative};
}

}  // namespace zyfa::probe
