#ifndef ZYFA_PROBE_COMPARISON_H_
#define ZYFA_PROBE_COMPARISON_H_

#include <cstdint>
#include <string>

#include "zyfa/probe/fact.h"

namespace zyfa::probe {

// A fact of many numbers: a device's beside those of a formula.
class Comparison {
 public:
  // `of`: operands or place, to name the first number that is another one.
  void Add(const std::string& of, double seen, double formula);
  void AddBits(const std::string& of, uint32_t seen, uint32_t formula);

  // Needed is that all are the formula's.
  Fact Needed(const std::string& name) const;
  Fact Informative(const std::string& name) const;

 private:
  void Add(const std::string& of, bool same, const std::string& seen,
           const std::string& formula);
  std::string Seen() const;

  int64_t count_ = 0;
  int64_t others_ = 0;
  std::string first_other_;
};

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_COMPARISON_H_
