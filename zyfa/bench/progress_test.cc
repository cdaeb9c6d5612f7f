#include "zyfa/bench/progress.h"

#include <sstream>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

TEST(Progress, RedrawsOneLineAndWipesIt) {
  std::ostringstream out;
  {
    Progress progress(&out, 4);
    progress.Show(0, "first");
    EXPECT_EQ(out.str(), "\r\x1b[K[                        ] 0/4 first");
    out.str("");
    progress.Show(3, "last");
    EXPECT_EQ(out.str(), "\r\x1b[K[==================      ] 3/4 last");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST(Progress, NothingToDoIsComplete) {
  std::ostringstream out;
  Progress(&out, 0).Show(0, "");
  EXPECT_NE(out.str().find("[========================] 0/0"),
            std::string::npos);
}

TEST(Progress, NoTerminalNoOutput) { Progress(nullptr, 1).Show(1, "x"); }

}  // namespace
}  // namespace zyfa::bench
