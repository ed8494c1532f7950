#include "runtime/records/compact.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace spdistal::runtime {
namespace {

Records after_travelling(const Records& records) {
  Writer out;
  CompactRecords::put(out, records);
  Bytes message = out.take();
  Reader in(message);
  CompactRecords arrived(in, records.order(), records.type());
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(arrived.size(), records.size());
  Records back(records.order(), records.type());
  arrived.append_to(back);
  return back;
}

TEST(CompactRecords, HoldCoordinatesOfAnyWidth) {
  constexpr int64_t widest = std::numeric_limits<uint32_t>::max();
  for (int64_t x : {int64_t{0}, int64_t{-1}, widest, widest + 1, -widest, std::numeric_limits<int64_t>::min(),
                    std::numeric_limits<int64_t>::max()}) {
    Records records(2, ScalarType::Int32);
    records.add(std::vector<int64_t>{7, x}, int32_t{1});
    records.add(std::vector<int64_t>{x, 0}, int32_t{2});
    EXPECT_EQ(after_travelling(records), records) << x;
  }
}

TEST(CompactRecords, MayBeNoneAndWithoutCoordinates) {
  EXPECT_EQ(after_travelling(Records(3, ScalarType::Float64)), Records(3, ScalarType::Float64));
  Records numbers(0, ScalarType::Float64);
  numbers.add(std::vector<int64_t>{}, 2.5);
  EXPECT_EQ(after_travelling(numbers), numbers);
}

TEST(CompactRecords, TakeFourBytesForACoordinateWhereThatIsEnough) {
  Records records(2, ScalarType::Float64);
  for (int64_t k = 0; k < 100; k++) records.add(std::vector<int64_t>{k, 3'000'000'000 + k}, 1.0);
  Writer out;
  CompactRecords::put(out, records);
  EXPECT_LT(out.take().size(), size_t{100} * (4 + 4 + 8) + 32);
}

}  // namespace
}  // namespace spdistal::runtime
