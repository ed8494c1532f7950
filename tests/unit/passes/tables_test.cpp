// Items that gather a row in a workspace: what is taken for one, and what is not.
#include "passes/tables/gathering.hpp"

#include <gtest/gtest.h>

#include "ir/build.hpp"
#include "ir/print.hpp"
#include "passes/tables/division.hpp"

namespace spdistal::passes {
namespace {

using namespace ir;

/// Row i of a product: the columns of crd[pos[i]] … are touched, listed, and stored behind each other.
struct Row {
  Var item = var("i", Int64), marks = var("marks", array_of(ScalarType::Bool)),
      list = var("list", array_of(ScalarType::Int32)), values = var("values", array_of(ScalarType::Float64)),
      count = var("count", Int64), crd = var("crd", const_array_of(ScalarType::Int32)),
      out = var("out", array_of(ScalarType::Float64)), sizes = var("sizes", array_of(ScalarType::Int64));
  std::function<Expr(const Expr& coordinate)> listed = [](const Expr& coordinate) {
    return cast(ScalarType::Int32, coordinate);
  };
  std::function<Expr(const Expr& q)> stored = [](const Expr&) { return literal(ir::Scalar::of(1.0)); };

  ParallelRegion region() const {
    Body f;
    f.add(Declare{count, int64(0), Mutability::Mutable});
    f.loop("p", int64(0), int64(8), [&](const Var& p) {
      Var j = f.constant("j", cast(ScalarType::Int64, load(crd, p)));
      f.when(
          load(marks, j),
          [&] {
            f.add(Store{StoreMode::Add, values, j, literal(ir::Scalar::of(2.0))});
          },
          [&] {
            f.store(marks, j, literal(ir::Scalar::of(true)));
            f.store(list, count, listed(j));
            f.increase(count, 1);
            f.store(values, j, literal(ir::Scalar::of(2.0)));
          });
    });
    f.loop("q", int64(0), count, [&](const Var& q) {
      Var j = f.constant("j", cast(ScalarType::Int64, load(list, q)));
      f.store(out, j, load(values, j) * stored(q));
      f.store(marks, j, literal(ir::Scalar::of(false)));
    });
    f.store(sizes, item, count);
    auto room = [&](const Var& array) { return Stmt(Allocate{array, int64(64), Fill::Zeroed}); };
    return {item, int64(4), {room(marks), room(list), room(values)}, f.build()};
  }
};

TEST(Tables, ARowThatIsGatheredIsFound) {
  std::optional<Gathering> found = gathering_of(Row().region());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->after.size(), 1u);
}

TEST(Tables, HowManyThereAreIsKnownBehindAllOfThemInBlocksToo) {
  Row row;
  ParallelRegion region = row.region();
  Var queue = var("queue", array_of(ScalarType::Int64)), queued = var("queued", Int64);
  Grid far = far_grid(region, *gathering_of(region), queue, queued, "far", 4);
  std::string text = print(far.function);
  size_t counted = text.find("count = listed"), stored = text.find("sizes[i] = count");
  ASSERT_NE(counted, text.npos) << text;
  EXPECT_LT(counted, stored) << text;
}

TEST(Tables, WhatIsListedMustBeTheCoordinate) {
  Row row;
  row.listed = [](const Expr& coordinate) { return cast(ScalarType::Int32, coordinate + 1); };
  EXPECT_FALSE(gathering_of(row.region()).has_value());
}

TEST(Tables, HowManyThereAreIsNotKnownBeforeAllAreListed) {
  Row row;
  row.stored = [&](const Expr&) { return cast(ScalarType::Float64, row.count); };
  EXPECT_FALSE(gathering_of(row.region()).has_value());
}

}  // namespace
}  // namespace spdistal::passes
