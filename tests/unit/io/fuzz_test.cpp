#include <gtest/gtest.h>

#include "fuzz/damaged_files.hpp"

namespace spdistal {
namespace {

TEST(DamagedFiles, AreReadOrRefusedButNeverMore) {
  DamagedFiles files(1);
  for (int n = 0; n < 20000; n++) {
    std::string fault = files.try_one();
    ASSERT_EQ(fault, "") << "file " << n << ", " << files.last_name() << ":\n" << files.last();
  }
}

}  // namespace
}  // namespace spdistal
