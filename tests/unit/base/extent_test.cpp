#include "spdistal/extent.hpp"

#include <gtest/gtest.h>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

TEST(Params, GetTheirValueLater) {
  Param n("n");
  Extent extent = n;
  EXPECT_EQ(extent.value(), std::nullopt);
  n = 1000;
  EXPECT_EQ(extent.value(), 1000) << "an extent sees what its parameter was bound to";
  n = 2000;
  EXPECT_EQ(extent.value(), 2000);
  EXPECT_FALSE(extent.is_literal());
}

TEST(Params, AreTheSameAsTheirCopiesOnly) {
  Param n, copy = n, other;
  EXPECT_EQ(n, copy);
  EXPECT_NE(n, other);
  copy = 5;
  EXPECT_EQ(n.value(), 5);
}

TEST(Params, TakeAnyIntegerThatIsNotNegative) {
  Param n("rows");
  n = size_t(7);
  EXPECT_EQ(n.value(), 7);
  n = 0;
  EXPECT_EQ(n.value(), 0);
  try {
    n = -1;
    FAIL() << "-1 was taken";
  } catch (const UserError& error) { EXPECT_STREQ(error.what(), "error: rows cannot be -1: sizes are not negative"); }
  EXPECT_EQ(n.value(), 0) << "a refused value changes nothing";
  EXPECT_THROW(Param() = -3, UserError);
  EXPECT_THROW(Param() = UINT64_MAX, UserError) << "beyond 2^63";
}

TEST(Extents, AreIntegersOrParams) {
  EXPECT_EQ(Extent(5), Extent(size_t(5)));
  EXPECT_TRUE(Extent(5).is_literal());
  EXPECT_EQ(Extent(5).param(), nullptr);
  Param n;
  n = 5;
  EXPECT_NE(Extent(n), Extent(5)) << "a parameter may change";
  EXPECT_EQ(std::hash<Extent>{}(Extent(n)), std::hash<Extent>{}(Extent(n)));
  EXPECT_THROW(Extent(-1), UserError);
}

static_assert(!std::is_convertible_v<double, Extent>);
static_assert(!std::is_assignable_v<Param&, double>);

}  // namespace
}  // namespace spdistal
