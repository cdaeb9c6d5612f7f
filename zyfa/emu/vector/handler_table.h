#ifndef ZYFA_EMU_VECTOR_HANDLER_TABLE_H_
#define ZYFA_EMU_VECTOR_HANDLER_TABLE_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/semantics.h"

namespace zyfa::emu::valu {

// Checks an instruction's operands and modifiers, prepares it and names its
// handler; nullptr if it cannot be executed.
using Maker = Handler (*)(Instruction& inst);

// Mnemonic to maker, with what is declared about it. A mnemonic gets the
// subject that Begin named last; there is no entry without one.
class HandlerTable {
 public:
  struct Entry {
    Maker maker = nullptr;
    Semantics semantics;
  };

  void Begin(const Subject& subject) { subject_ = &subject; }
  Maker& operator[](const std::string& mnemonic) {
    Entry& entry = entries_[mnemonic];
    entry.semantics.subject = subject_;
    return entry.maker;
  }
  // Declares why an entry's results may differ from the hardware's.
  void Approximate(const std::string& mnemonic, std::string_view why) {
    entries_.at(mnemonic).semantics.approximation = why;
  }

  // The same for all entries of the subject that `matches` accepts.
  template <class Matches>
  void ApproximateAll(const Matches& matches, std::string_view why) {
    for (auto& [mnemonic, entry] : entries_) {
      if (entry.semantics.subject == subject_ && matches(mnemonic)) {
        entry.semantics.approximation = why;
      }
    }
  }

  const Entry* Find(const std::string& mnemonic) const {
    const auto entry = entries_.find(mnemonic);
    return entry == entries_.end() ? nullptr : &entry->second;
  }
  const std::unordered_map<std::string, Entry>& entries() const {
    return entries_;
  }

 private:
  const Subject* subject_ = nullptr;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace zyfa::emu::valu

// One registration function a subject, in both sets of code (see target.h).
#define ZYFA_VECTOR_REGISTRATIONS                       \
  void AddAllOps(valu::HandlerTable& table);            \
  void AddFloatOps(valu::HandlerTable& table);          \
  void AddIntegerOps(valu::HandlerTable& table);        \
  void AddCompares(valu::HandlerTable& table);          \
  void AddConversions(valu::HandlerTable& table);       \
  void AddTranscendentals(valu::HandlerTable& table);   \
  void AddCrossLane(valu::HandlerTable& table);         \
  void AddPacked(valu::HandlerTable& table);            \
  void AddScaledConversions(valu::HandlerTable& table); \
  void AddMatrixDense(valu::HandlerTable& table);       \
  void AddMatrixScaled(valu::HandlerTable& table);      \
  void AddMatrixSparse(valu::HandlerTable& table);

namespace zyfa::emu::valu_baseline {
ZYFA_VECTOR_REGISTRATIONS
}
namespace zyfa::emu::valu_avx2 {
ZYFA_VECTOR_REGISTRATIONS
}

#undef ZYFA_VECTOR_REGISTRATIONS

#endif  // ZYFA_EMU_VECTOR_HANDLER_TABLE_H_
