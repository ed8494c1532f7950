#include "spdistal/distribution.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/text.hpp"
#include "machine/parse.hpp"
#include "machine/print.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

template <class F>
Diagnostic refusal(F&& f) {
  try {
    f();
  } catch (const UserError& error) { return error.diagnostic(); }
  return {"nothing was refused", {}, {}};
}

std::string text(const Distribution& d) { return DistributionPrinter(d).statement("B"); }

TEST(Distributions, FromCppPrintAsInThePaper) {
  Machine row(Grid(4)), plane(Grid(2, 2)), nodes(Grid(2), Grid(4, GPU));
  DistVar x, y, z, f;
  EXPECT_EQ(text(Distribution({x}, row, {x})), "B(x) -> M(x)");
  EXPECT_EQ(text(Distribution({x, y}, row, {x})), "B(x,y) -> M(x)");
  EXPECT_EQ(text(Distribution({x, y}, row, {y})), "B(x,y) -> M(y)");
  EXPECT_EQ(text(Distribution({x, y}, plane, {x, y})), "B(x,y) -> M(x,y)");
  EXPECT_EQ(text(Distribution({x, y, z}, plane, {x, y})), "B(x,y,z) -> M(x,y)");
  EXPECT_EQ(text(Distribution({x, y, z}, plane, {x, 0})), "B(x,y,z) -> M(x,0)");
  EXPECT_EQ(text(Distribution({x}, row, {y})), "B(x) -> M(y)");
  EXPECT_EQ(text(Distribution({x}, row, {~x})), "B(x) -> M(~x)");
  EXPECT_EQ(text(Distribution({x, y}, fuse({x, y}, f), row, {~f})), "B(x,y) fuse(x,y,f) -> M(~f)");
  EXPECT_EQ(text(Distribution({x, y, z}, fuse({x, y, z}, f), row, {~f})), "B(x,y,z) fuse(x,y,z,f) -> M(~f)");
  EXPECT_EQ(text(Distribution({x, y}, nodes, {x}).then({y})), "B(x,y) -> M(x)/(y)");
  EXPECT_EQ(text(Distribution({}, row, {x})), "B() -> M(x)");
}

TEST(Distributions, NamesAreKeptWhereTheyAreGiven) {
  DistVar row("row"), unnamed, column("column");
  EXPECT_EQ(text(Distribution({row, unnamed}, Machine(Grid(2, 2)), {column, unnamed})), "B(row,x) -> M(column,x)");
  DistVar m("M");
  EXPECT_EQ(text(Distribution({m}, Machine(Grid(2)), {m})), "B(M2) -> M(M2)") << "M is the machine";
}

TEST(Distributions, KnowWhichDimensionsANameStandsFor) {
  DistVar x, y, z, f, g, r;
  Distribution d({x, y, z}, {fuse({y, x}, f), fuse({f, z}, g)}, Machine(Grid(2, 2)), {{g, r}});
  EXPECT_EQ(d.dims_of(x), std::vector<size_t>{0});
  EXPECT_EQ(d.dims_of(f), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(d.dims_of(g), (std::vector<size_t>{1, 0, 2}));
  EXPECT_EQ(d.dims_of(r), std::vector<size_t>{});
}

TEST(Distributions, ThatMakeNoSenseAreRefusedFromCppToo) {
  Machine row(Grid(4)), nodes(Grid(2), Grid(2));
  DistVar x("x"), y("y"), z("z"), f("f");
  EXPECT_EQ(refusal([&] { Distribution({x, x}, row, {x}); }).message, "x names two dimensions of the tensor");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {x, y}); }).message, "2 names for a grid of 1 dimension");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {4}); }).message,
            "coordinate 4 is outside the machine's first dimension");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {-1}); }).message,
            "coordinate -1 is outside the machine's first dimension");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {~y}); }).message, "~y: y is no dimension of the tensor");
  EXPECT_EQ(refusal([&] {
              Distribution({x, y}, fuse({x}, f), row, {~f});
            }).message,
            "a fusion takes two dimensions or more");
  EXPECT_EQ(refusal([&] {
              Distribution({x, y}, fuse({x, z}, f), row, {~f});
            }).message,
            "fuse: z is no dimension of the tensor");
  EXPECT_EQ(refusal([&] {
              Distribution({x, y}, fuse({x, y}, f), row, {x});
            }).message,
            "x is fused and cannot be placed by itself");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {x}).then({x}); }).message,
            "the distribution has 2 levels, the machine 1");
  EXPECT_EQ(refusal([&] { Distribution({x}, nodes, {x}).then({~x}); }).message,
            "x is partitioned by coordinates on one level and by non-zeros on another");
  EXPECT_EQ(refusal([&] { Distribution({x}, Machine(Grid(Param())), {-1}); }).hint, "coordinates count from 0");
  EXPECT_EQ(refusal([&] { Distribution({x}, row, {x, y}); }).excerpts.at(0).text, "T(x) -> M(x,y)");
}

TEST(Distributions, ThatArePrintedParseToTheSame) {
  std::mt19937 random(20240917);
  auto pick = [&](size_t n) { return size_t(random() % n); };
  size_t made = 0;
  for (int round = 0; round < 4000; round++) {
    std::vector<Grid> levels;
    for (size_t level = 0; level <= pick(3); level++) {
      std::vector<Extent> sizes;
      for (size_t d = 0; d <= pick(3); d++) sizes.emplace_back(1 + pick(4));
      levels.emplace_back(sizes, pick(2) ? GPU : CPU);
    }
    Machine machine(levels);
    std::vector<DistVar> dims(pick(5)), all;
    for (DistVar& dim : dims) dim = pick(2) ? DistVar() : DistVar(std::string(1, char('p' + pick(4))));
    all = dims;
    std::vector<DistFusion> fusions;
    if (dims.size() >= 2 && pick(2)) {
      std::vector<DistVar> parts(dims.begin(), dims.begin() + 2 + long(pick(dims.size() - 1)));
      std::shuffle(parts.begin(), parts.end(), random);
      fusions.push_back(fuse(parts, DistVar()));
      all.push_back(fusions.back().fused);
    }
    std::vector<std::vector<Placement>> placements;
    for (size_t level = 0; level <= pick(levels.size()); level++) {
      placements.emplace_back();
      for (size_t d = 0; d < levels[level].extents().size(); d++) {
        DistVar var = all.empty() || pick(4) == 0 ? DistVar() : all[pick(all.size())];
        if (pick(5) == 0) placements.back().push_back(0);
        else if (pick(3) == 0) placements.back().push_back(~var);
        else placements.back().push_back(var);
      }
    }
    std::optional<Distribution> distribution;
    try {
      distribution.emplace(dims, fusions, machine, placements);
    } catch (const UserError&) { continue; }
    made++;
    std::string printed = DistributionPrinter(*distribution).statement("B");
    ParsedDistribution parsed = parse_distribution(printed, machine);
    EXPECT_EQ(parsed.tensor, "B");
    EXPECT_EQ(DistributionPrinter(parsed.distribution).statement("B"), printed);
    EXPECT_EQ(parsed.distribution.dims().size(), dims.size());
    ASSERT_EQ(parsed.distribution.levels().size(), placements.size()) << printed;
    for (size_t level = 0; level < placements.size(); level++)
      for (size_t d = 0; d < placements[level].size(); d++) {
        const Placement &a = placements[level][d], &b = parsed.distribution.levels()[level][d];
        ASSERT_EQ(a.what().index(), b.what().index()) << printed;
        if (!a.var()) continue;
        EXPECT_EQ(distribution->dims_of(*a.var()), parsed.distribution.dims_of(*b.var())) << printed;
      }
  }
  EXPECT_GT(made, 1000u);
}

}  // namespace
}  // namespace spdistal
