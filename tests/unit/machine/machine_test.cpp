#include "spdistal/machine.hpp"

#include <gtest/gtest.h>

#include "machine/parse.hpp"
#include "machine/print.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const UserError& error) { return error.diagnostic().message; }
  return "nothing was refused";
}

TEST(Machines, AreGridsOfAnyOrder) {
  Machine row(Grid(4)), plane(Grid(2, 3)), many(Grid(1, 2, 3, 4));
  EXPECT_EQ(row.x.extent(), Extent(4));
  EXPECT_EQ(plane.x.extent(), Extent(2));
  EXPECT_EQ(plane.y.extent(), Extent(3));
  EXPECT_EQ(many.dim(3).extent(), Extent(4));
  EXPECT_EQ(many.dim(3).str(), "M.dim(3)");
}

TEST(Machines, HaveAKindOfProcessor) {
  EXPECT_EQ(Machine(Grid(2)).levels()[0].kind(), CPU);
  EXPECT_EQ(Machine(Grid(2), GPU).levels()[0].kind(), GPU);
  EXPECT_EQ(Machine(Grid(2, GPU)).levels()[0].kind(), GPU);
}

TEST(Machines, NestInLevels) {
  Param nodes("nodes");
  Machine m(Grid(nodes), Grid(4, 2, GPU));
  EXPECT_EQ(m.levels().size(), 2u);
  EXPECT_EQ(m.x.extent(), Extent(nodes));
  EXPECT_EQ(m[0].x, m.x);
  EXPECT_EQ(m[1].x.extent(), Extent(4));
  EXPECT_EQ(m[1].y.extent(), Extent(2));
  EXPECT_EQ(m[1].y.str(), "M[1].y");
  EXPECT_EQ(m.dim(1, 1), m[1].y);
}

TEST(Machines, ADimensionThatIsNotThereIsRefusedWhereItIsUsed) {
  Machine m(Grid(4));
  EXPECT_EQ(refusal([&] { m.y.extent(); }), "M.y: the machine's grid has 1 dimension");
  EXPECT_EQ(refusal([&] { m[1].x.extent(); }), "M[1].x: the machine has 1 level");
  EXPECT_EQ(refusal([&] { m.dim(5); }), "M.dim(5): the machine's grid has 1 dimension");
}

TEST(Machines, WithoutProcessorsAreRefused) {
  EXPECT_EQ(refusal([] { Grid(0); }), "a grid dimension of 0 holds no processor");
  EXPECT_EQ(refusal([] { Grid(2, 0); }), "a grid dimension of 0 holds no processor");
  EXPECT_EQ(refusal([] { Grid(std::vector<Extent>{}); }), "a grid needs at least one dimension");
  EXPECT_EQ(refusal([] { Machine(std::vector<Grid>{}); }), "a machine needs at least one grid");
  EXPECT_EQ(refusal([] { Grid(-1); }), "a size cannot be -1: sizes are not negative");
}

TEST(Machines, AreTheSameAsTheirCopiesOnly) {
  Machine m(Grid(4)), copy = m, other(Grid(4));
  EXPECT_EQ(m, copy);
  EXPECT_NE(m, other);
  EXPECT_EQ(m.x, copy.x);
}

TEST(Machines, PrintAsTheyAreWritten) {
  for (const char* text : {"4", "2x3", "1x2x3x4", "4,gpu", "2/4,gpu", "2x2,gpu/3", "1/2/3"})
    EXPECT_EQ(print(parse_machine(text)), text);
  EXPECT_EQ(print(parse_machine("4,cpu")), "4");
  EXPECT_EQ(print(parse_machine("2*3")), "2x3");
  Param p("p"), unnamed;
  EXPECT_EQ(print(Machine(Grid(p, unnamed))), "px?");
  p = 3;
  EXPECT_EQ(print(Machine(Grid(p))), "3") << "a value says more than a name";
}

TEST(Pieces, AreNumbersParamsOrDimensionsOfAMachine) {
  Machine m(Grid(4));
  Param p;
  EXPECT_EQ(Pieces(3).value(), 3);
  EXPECT_EQ(Pieces(m.x).value(), 4);
  EXPECT_EQ(Pieces(p).value(), std::nullopt);
  p = 5;
  EXPECT_EQ(Pieces(p).value(), 5);
  EXPECT_EQ(Pieces(m.x), Pieces(m.x));
  EXPECT_NE(Pieces(m.x), Pieces(4));
}

}  // namespace
}  // namespace spdistal
