#include "zyfa/bench/outcome.h"

#include <algorithm>
#include <iostream>

#include "zyfa/bench/table.h"
#include "zyfa/cli/output.h"

namespace zyfa::bench {

int PrintOutcome(const std::string& program,
                 const std::vector<proto::Record>& records,
                 const absl::Status& status) {
  std::cout << RenderTable(records);
  absl::Status end = status;
  end.Update(cli::FlushOutput());
  if (!end.ok()) {
    std::cerr << program << ": " << end.message() << "\n";
    return 2;
  }
  const bool all_well = std::all_of(
      records.begin(), records.end(),
      [](const proto::Record& r) { return r.outcome() == proto::OUTCOME_OK; });
  return all_well ? 0 : 1;
}

}  // namespace zyfa::bench
