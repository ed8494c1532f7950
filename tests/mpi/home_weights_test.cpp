// Blocks of rows that weigh the same, found over pieces on any number of ranks: against everything listed.
#include "tensor/weights.hpp"

#include <gtest/gtest.h>

#include "mpi/random_homes.hpp"
#include "tensor/distribute.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

// Homes that store nothing twice, and have an order of rows.
bool can_be_weighed(const HomeCase& made, const Home& home) {
  if (made.dims.empty() || !made.format.levels()[0].properties().ordered) return false;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    if (!home.owns_nothing(c) && !home.owns_all(c)) return false;
  return true;
}

std::vector<int64_t> weights_of(const HomeCase& made, const Whole& whole) {
  std::vector<int64_t> out(size_t(made.dims[size_t(made.format.mode_order()[0])]));
  for (const auto& [path, value] : whole.elements) out[size_t(path[0])]++;
  return out;
}

TEST(WeightedCuts, AreThoseOfAllThatHomesStore) {
  on_ranks([](Transport& t) {
    int weighed = 0;
    for_each_case(t, "weigh", t.size() == 1 ? 2000 : cases(300, 300), [&](Random& random) {
      HomeCase made = random_home(random);
      std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
      Whole whole = whole_of(made, parts);
      Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares);
      bool suits = can_be_weighed(made, home) && !whole.fills;
      for (const LevelFormat& level : made.format.levels())
        suits &= !level.properties().placed || level.properties().full;
      if (!made.dims.empty()) suits &= made.dims[size_t(made.format.mode_order()[0])] < 100;
      if (!t.allreduce(int64_t(suits), ReduceOp::Min)) return;
      weighed++;
      std::vector<int64_t> weights = weights_of(made, whole);
      auto n = int64_t(weights.size()), blocks = pick(random, 1, 6);
      int64_t times = pick(random, 1, 2);  // the same tensor twice weighs twice as much
      Cuts cuts = weighted_cuts(t, Weighed(size_t(times), &home), n, blocks);
      ASSERT_EQ(int64_t(cuts.size()), blocks + 1);
      int64_t all = 0, most = 0;
      for (int64_t weight : weights) all += weight;
      for (int64_t c = 0; c < blocks; c++) {
        int64_t before = 0, row = 0;
        for (; row < n && blocks * (2 * before + weights[size_t(row)]) < 2 * c * all; row++)
          before += weights[size_t(row)];
        ASSERT_EQ(cuts[size_t(c)], row) << "block " << c << " of " << blocks;
      }
      ASSERT_EQ(cuts.back(), n);
      for (int64_t c = 0; c < blocks; c++) {
        int64_t here = 0;
        for (int64_t row = cuts[size_t(c)]; row < cuts[size_t(c) + 1]; row++) here += weights[size_t(row)];
        most = std::max(most, here);
      }
      ASSERT_DOUBLE_EQ(imbalance(t, {&home}, cuts), all == 0 ? 1 : double(most * blocks) / double(all));
    });
    EXPECT_GT(weighed, 20);
  });
}

}  // namespace
}  // namespace spdistal::runtime
