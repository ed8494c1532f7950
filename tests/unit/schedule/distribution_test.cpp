// Tensor distribution notation as a scheduled statement.
#include "schedule/distribution.hpp"

#include <gtest/gtest.h>

#include "notation/print.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"

namespace spdistal::schedule {
namespace {

using notation::TensorVar;

PlacedTensor placed(const Format& format, std::vector<Extent> dims) {
  return place(TensorVar({Symbol("T"), ScalarType::Float64, std::move(dims), format}));
}
std::string commands(const PlacedTensor& placed) {
  notation::Printer names;
  return print(placed.commands, names);
}

TEST(Placement, DividesAndDistributes) {
  Machine m(Grid(4));
  DistVar x, y;
  PlacedTensor t = placed(Format(CSR, Distribution({x, y}, m, {x})), {10, 20});
  EXPECT_EQ(commands(t), "divide(x, xo, xi, M.x); distribute(xo); communicate({T}, xo)");
  EXPECT_EQ(notation::print(t.initial), "forall x in 10\n  forall y in 20\n    T(x,y) = T(x,y)");
  EXPECT_EQ(notation::print(t.scheduled),
            "forall xo in M.x: distribute, communicate {T}\n"
            "  forall xi in ceil(10 / M.x)\n"
            "    with x = xo * ceil(10 / M.x) + xi < 10\n"
            "    forall y in 20\n"
            "      T(x,y) = T(x,y)");
}

TEST(Placement, KeepsTheTensorAsItIs) {
  Machine m(Grid(4));
  DistVar x;
  EXPECT_EQ(placed(Format({Compressed}, Distribution({x}, m, {~x})), {10}).scheduled.start, notation::Start::Old);
}

TEST(Placement, FixesAMachineDimensionAtOneCoordinate) {
  Machine m(Grid(2, 3));
  DistVar x;
  PlacedTensor t = placed(Format({Dense}, Distribution({x}, m, {x, 2})), {10});
  ASSERT_EQ(t.scheduled.provenance.roots.size(), 2u);
  EXPECT_EQ(t.scheduled.provenance.roots[1].fixed, 2);
}

// Every format of order 2 and 3 with every placement it allows becomes a schedule that applies.
TEST(Placement, WorksForEveryDistributionThatAFormatTakes) {
  Machine m(Grid(2, 2));
  size_t count = 0;
  for (const char* text : {"dd", "ds", "sd", "ss", "uq", "ds:1,0", "uq:1,0", "dss", "sss:2,0,1", "uqq", "duq", "dsd"}) {
    Format format = Format::parse(text);
    std::vector<DistVar> dims(format.order());
    DistVar f, replicated;
    std::vector<DistFusion> fusion{fuse(dims, f)}, pair{fuse({dims[1], dims[0]}, f)};
    for (const std::vector<DistFusion>& fusions : {std::vector<DistFusion>{}, fusion, pair}) {
      std::vector<Placement> choices{0, 1, replicated, f, ~f};
      for (const DistVar& dim : dims) choices.push_back(dim), choices.push_back(~dim);
      for (const Placement& first : choices)
        for (const Placement& second : choices) {
          std::optional<Format> whole;
          try {
            whole.emplace(format, Distribution(dims, fusions, m, {{first, second}}));
          } catch (const UserError&) { continue; }
          PlacedTensor t = placed(*whole, std::vector<Extent>(format.order(), Extent(Param())));
          EXPECT_EQ(notation::print(schedule::apply(t.commands, t.initial).value()), notation::print(t.scheduled));
          count++;
        }
    }
  }
  EXPECT_GT(count, 500u);
}

}  // namespace
}  // namespace spdistal::schedule
