// Distributions mean what the loops say that they stand for: each colour holds just the elements that its turns of these come to.
#include <gtest/gtest.h>

#include <set>

#include "compile/homes.hpp"
#include "machine/parse.hpp"
#include "machine/print.hpp"
#include "mpi/cases.hpp"
#include "notation/print.hpp"
#include "oracle/walk.hpp"
#include "schedule/distribution.hpp"
#include "support/random_distribution.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;
using namespace notation;
using Element = std::vector<int64_t>;

// By colour: the stored elements that iterations come to.
std::vector<std::set<Element>> walked(const TensorVar& tensor, const Storage& whole) {
  ConcreteStatement placed = schedule::place(tensor).scheduled;
  std::set<Element> stored;
  for_each_position(whole.pattern(),
                    [&](std::span<const int64_t> at, int64_t) { stored.emplace(at.begin(), at.end()); });
  std::vector<IndexVar> loops;
  std::vector<int64_t> extents;
  std::vector<IndexVar> indices;
  for (const Forall& loop : outer_loops(placed.body)) loops.push_back(loop.var);
  each<Assign>(placed.body, [&](const Assign& assign) { indices = assign.lhs.indices; });
  for (const Grid& grid : tensor.format().distribution()->machine().levels())
    for (const Extent& extent : grid.extents()) extents.push_back(*extent.value());
  ColourGrid grid(extents);
  std::vector<std::set<Element>> out(size_t(grid.count()));
  std::map<TensorVar, Storage> storages;
  each<Assign>(placed.body, [&](const Assign& assign) { storages.emplace(assign.lhs.tensor, whole.clone()); });
  test::Walk walk(placed, storages, 0);
  walk.turns(loops, [&] {
    Element at;
    for (const IndexVar& var : indices) at.push_back(walk.values.at(var));
    if (!stored.contains(at)) return;
    int64_t colour = 0;
    for (size_t k = 0; k < extents.size(); k++) colour = colour * extents[k] + walk.values.at(loops[k]);
    out[size_t(colour)].insert(at);
  });
  return out;
}

std::string where(const std::set<Element>& elements) {
  std::string out;
  for (const Element& at : elements) {
    out += out.empty() ? "(" : " (";
    for (int64_t x : at) out += (out.ends_with("(") ? "" : ",") + std::to_string(x);
    out += ")";
  }
  return out;
}

void check_places(Transport& t, const TensorVar& tensor, const Storage& whole) {
  std::vector<std::set<Element>> wanted = walked(tensor, whole);
  Home home = scatter(t, whole, homes_of(tensor, t.size()));
  ASSERT_EQ(home.shares().grid.count(), int64_t(wanted.size()));
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    std::set<Element> held;
    for_each_position(home.piece(c).pattern(), [&](std::span<const int64_t> at, int64_t position) {
      if (home.holds(c, at, position)) held.emplace(at.begin(), at.end());
    });
    ASSERT_EQ(where(held), where(wanted[size_t(c)])) << "colour " << c;
  }
}

// Levels that store what lies between coordinates, or keep no order, store in a piece what no loop says.
bool is_plain(const Format& format) {
  return std::all_of(format.levels().begin(), format.levels().end(), [](const LevelFormat& level) {
    return !level.properties().fills && !(level.properties().placed && !level.properties().full);
  });
}

TEST(PlacedHomes, HoldWhatTheLoopsOfTheirDistributionComeTo) {
  on_ranks([](Transport& t) {
    int placed = 0;
    for_each_case(t, "placed", t.size() == 1 ? 3000 : cases(300, 300), [&](Random& random) {
      size_t order = size_t(pick(random, 1, 3));
      Format format = test::draw_format(random, order);
      std::vector<Extent> dims;
      for (size_t d = 0; d < order; d++) dims.push_back(pick(random, 1, 5));
      TensorVar drawn({Symbol("B"), ScalarType::Float64, dims, format});
      TensorVar tensor = test::draw_placed(random, drawn, test::draw_machine(random));
      if (!tensor.format().distribution() || !is_plain(format)) return;
      placed++;
      Storage whole = test::to_storage(test::draw_array(random, drawn), format);
      SCOPED_TRACE(DistributionPrinter(*tensor.format().distribution()).statement("B") + " on " +
                   print(tensor.format().distribution()->machine()) + ", " + format.str());
      check_places(t, tensor, whole);
    });
    EXPECT_GT(placed, t.size() == 1 ? 1000 : 50);
  });
}

struct Nested {
  std::string machine;
  int64_t elements;
  std::vector<std::set<int64_t>> wanted;
};

// By hand: blocks of ceil(n / p), each of which is divided as if it were full.
TEST(PlacedHomes, DivideThePartsOfNestedMachinesAgain) {
  const std::vector<Nested> cases = {
      {"2/2", 5, {{0, 1}, {2}, {3, 4}, {}}},
      {"2/3", 7, {{0, 1}, {2, 3}, {}, {4, 5}, {6}, {}}},
      {"3/2", 7, {{0, 1}, {2}, {3, 4}, {5}, {6}, {}}},
      {"2/4", 5, {{0}, {1}, {2}, {}, {3}, {4}, {}, {}}},
      {"2/2/2", 9, {{0, 1}, {2}, {3, 4}, {}, {5, 6}, {7}, {8}, {}}},
      {"4/2", 4, {{0}, {}, {1}, {}, {2}, {}, {3}, {}}},
  };
  on_ranks([&](Transport& t) {
    for (const Nested& made : cases) {
      SCOPED_TRACE(made.machine);
      Machine machine = parse_machine(made.machine);
      std::string text = "b(x) -> M(~x)";
      for (size_t level = 1; level < machine.levels().size(); level++) text += "/(~x)";
      Format format(Format({Compressed}), parse_distribution(text, machine).distribution);
      TensorVar b({Symbol("b"), ScalarType::Float64, {100}, format});
      reference::DenseArray array(ScalarType::Float64, {100});
      for (int64_t k = 0; k < made.elements; k++) array.values[size_t(7 * k)] = Scalar(1.0);
      Home home = scatter(t, test::to_storage(array, Format({Compressed})), homes_of(b, t.size()));
      ASSERT_EQ(home.shares().grid.count(), int64_t(made.wanted.size()));
      for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
        std::set<int64_t> held;
        for_each_position(home.piece(c).pattern(),
                          [&](std::span<const int64_t> at, int64_t) { held.insert(at[0] / 7); });
        EXPECT_EQ(held, made.wanted[size_t(c)]) << "colour " << c;
      }
    }
  });
}

}  // namespace
}  // namespace spdistal::runtime
