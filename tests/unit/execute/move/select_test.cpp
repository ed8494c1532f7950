// What colours need of a piece, found by the partition statements of plans, against its elements one by one: random
// formats, statements, schedules, pieces and needs. And the plans that distributions become.
#include "execute/move/select.hpp"

#include <gtest/gtest.h>

#include <random>

#include "level/level.hpp"
#include "lower/distribute.hpp"
#include "machine/parse.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "schedule/distribution.hpp"
#include "support/features.hpp"
#include "support/random_distribution.hpp"
#include "support/random_tensor.hpp"
#include "tensor/iterate.hpp"
#include "tensor/nodes.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;
using runtime::ColourGrid;
using runtime::Partition;
using runtime::Space;
using Random = std::mt19937_64;

int64_t number(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// The operand B of a random distributed statement: copied, or with its first dimension gathered by another.
struct Case {
  plan::AccessPlan access;
  Format format;
  std::vector<int64_t> dims;
};
std::optional<Case> draw_case(Random& random) {
  static const char* statements[] = {
      "A(i) = B(i)",          "A(i,j) = B(i,j)",          "A(i,j,k) = B(i,j,k)",
      "A(i) = D(i,l) * B(l)", "A(i,j) = D(i,l) * B(l,j)", "A(i,j,k) = D(i,l) * B(l,j,k)"};
  std::map<std::string, int64_t> sizes;
  for (const char* var : {"i", "j", "k", "l"}) sizes[var] = number(random, 1, 6);
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (const IndexVar& index : indices) dims.push_back(sizes.at(index.name()));
    Format format = name.text == "A"   ? dense_format(indices.size())
                    : name.text == "D" ? CSR
                                       : test::draw_format(random, indices.size());
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, format});
  };
  Assignment assignment = parse_assignment(statements[number(random, 0, 5)], scope);
  for (const LevelFormat& level : scope.tensors.at("B").format().levels())
    if (test::open_faults().contains(std::string("level ") + level.letter())) return {};
  Result<ConcreteStatement> loops = concretize(assignment);
  if (!loops) return {};
  test::RandomSchedule schedule = test::draw_distributed(random, *loops);
  plan::Plan plan = lower::distribute(schedule.statement);
  for (size_t k = 1; k < plan.accesses.size(); k++) {
    const TensorVar& tensor = plan.accesses[k].access.tensor;
    if (tensor != scope.tensors.at("B")) continue;
    return Case{plan.accesses[k], tensor.format(), known_dims(tensor)};
  }
  return {};
}

// A piece over a random box, a third of which is stored.
Storage draw_piece(Random& random, const Case& c) {
  std::vector<Range> box;
  for (int64_t n : c.dims) {
    int64_t lo = number(random, 0, n), hi = number(random, lo, n);
    box.push_back(number(random, 0, 2) == 0 ? Range{lo, hi} : Range{0, n});
  }
  Coordinates entries(c.dims, ScalarType::Float64);
  std::vector<int64_t> at(c.dims.size());
  std::function<void(size_t)> walk = [&](size_t d) {
    if (d == at.size()) {
      if (number(random, 0, 2) == 0) entries.add(std::span<const int64_t>(at), 1.0);
      return;
    }
    for (at[d] = box[d].lo; at[d] < box[d].hi; at[d]++) walk(d + 1);
  };
  walk(0);
  return pack(std::move(entries), c.format, box);
}

Space draw_set(Random& random, int64_t size, bool interval) {
  int64_t lo = number(random, 0, size), hi = number(random, lo, size);
  if (interval) return lo == hi ? Space(1) : Space::interval(lo, hi);
  std::vector<int64_t> points;
  for (int64_t x = 0; x < size; x++)
    if (number(random, 0, 1)) points.push_back(x);
  return Space::from_points(1, points);
}

constexpr int64_t base = 5;  // where the positions of the piece begin in the whole tensor

Need draw_need(Random& random, const Case& c, const Storage& piece) {
  Need out;
  for (size_t d = 0; d < c.dims.size(); d++) {
    const plan::Projection& p = c.access.projections[d];
    if (std::holds_alternative<plan::Affine>(p)) out.coordinates.push_back(draw_set(random, c.dims[d], true));
    else if (std::holds_alternative<plan::Gather>(p)) out.coordinates.push_back(draw_set(random, c.dims[d], false));
    else out.coordinates.push_back(Space::interval(0, c.dims[d]));
  }
  if (c.access.split) {
    int64_t count = piece.pattern().level(c.access.split->level).positions;
    int64_t lo = number(random, -2, count + 1), hi = number(random, lo, count + 2);
    out.positions = Range{base + lo, base + hi};
  }
  return out;
}

// The position at a level above which a position of the last level hangs from.
int64_t ancestor(const Storage& piece, size_t level, int64_t position) {
  const Pattern& pattern = piece.pattern();
  for (size_t k = pattern.order() - 1; k > level; k--) {
    int64_t parents = pattern.level(k - 1).positions;
    for (int64_t parent = 0; parent < parents; parent++)
      if (functions_of(pattern.format().levels()[k]).children(pattern.level(k), parent).contains(position)) {
        position = parent;
        break;
      }
  }
  return position;
}

// What is selected of each level, as far as statements say: all that elements hang from, and nothing whose coordinates, down
// to its level, are not needed.
void check_levels(const Case& c, const Storage& piece, const Need& need, const Selected& found, int64_t colour) {
  if (found.elements[colour].empty()) return;
  for (size_t level = 0; level < c.dims.size(); level++) {
    if (!found.levels[level]) continue;
    const Space& positions = (*found.levels[level])[colour];
    for (const Range& run : found.elements[colour].sides())
      for (int64_t p = run.lo; p < run.hi; p++)
        EXPECT_TRUE(positions.contains(ancestor(piece, level, p))) << "level " << level;
    for_each_node(piece.pattern(), level, [&](std::span<const int64_t> path, int64_t position) {
      bool needed = true;
      for (size_t k = 0; k <= level; k++)
        needed &= need.coordinates[size_t(c.format.mode_order()[k])].contains(path[k]);
      if (!needed) { EXPECT_FALSE(positions.contains(position)) << "level " << level; }
    });
  }
}

TEST(Select, FindsTheElementsThatEachColourNeeds) {
  int gathers = 0, splits = 0, several = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    Random random{seed};
    std::optional<Case> c = draw_case(random);
    if (!c) continue;
    Storage piece = draw_piece(random, *c);
    std::vector<Need> needs;
    for (int k = 0; k < 3; k++) needs.push_back(draw_need(random, *c, piece));
    Selected selected = select(c->access, piece, base, ColourGrid({3}), needs);
    const Partition& found = selected.elements;
    for (int64_t colour = 0; colour < 3; colour++) {
      const Need& need = needs[size_t(colour)];
      std::vector<int64_t> wanted;
      for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t position) {
        bool needed = true;
        for (size_t d = 0; d < at.size(); d++) needed &= need.coordinates[d].contains(at[d]);
        if (c->access.split)
          needed &= need.positions->contains(base + ancestor(piece, c->access.split->level, position));
        if (needed) wanted.push_back(position);
      });
      EXPECT_TRUE(found[colour] == Space::from_points(1, wanted)) << "seed " << seed << ", colour " << colour;
      check_levels(*c, piece, need, selected, colour);
    }
    if (HasFailure()) return;
    int cuts = c->access.split.has_value();
    splits += c->access.split.has_value();
    for (const plan::Projection& p : c->access.projections) {
      gathers += std::holds_alternative<plan::Gather>(p);
      cuts += std::holds_alternative<plan::Gather>(p) || std::holds_alternative<plan::Affine>(p);
    }
    several += cuts > 1;
  }
  // Every kind of cut came up.
  EXPECT_GT(gathers, 100);
  EXPECT_GT(splits, 100);
  EXPECT_GT(several, 100);
}

TEST(Occurring, IsTheCoordinatesThatHaveAStoredElementBelow) {
  for (uint64_t seed = 0; seed < 1000; seed++) {
    Random random{seed};
    std::optional<Case> c = draw_case(random);
    if (!c) continue;
    Storage piece = draw_piece(random, *c);
    for (size_t level = 0; level < c->dims.size(); level++) {
      size_t dim = size_t(c->format.mode_order()[level]);
      std::vector<int64_t> wanted;
      for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t) { wanted.push_back(at[dim]); });
      ASSERT_TRUE(occurring(piece, level) == Space::from_points(1, wanted)) << "seed " << seed << ", level " << level;
    }
  }
}

// ---- distributions as plans ----

std::string placed(const char* tensor, const char* format, const char* machine, const char* distribution) {
  Machine m = parse_machine(machine);
  ParsedDistribution parsed = parse_distribution(distribution, m);
  Format storage(Format::parse(format), parsed.distribution);
  std::vector<Extent> dims(storage.order(), Extent(6));
  ConcreteStatement statement =
      schedule::place(TensorVar({Symbol(tensor), ScalarType::Float64, dims, storage})).scheduled;
  plan::Plan plan = lower::distribute(statement);
  // What is placed is the tensor as it is read.
  std::string out;
  for (const plan::PartitionStatement& s : plan.accesses.at(1).partitions) {
    if (s.op == plan::Op::Init || s.op == plan::Op::Entry) continue;
    out += s.function.str() + (s.function.empty() ? "" : ": ") + std::string(plan::name_of(s.op)) + "\n";
  }
  return out;
}

TEST(Distributions, BecomePlansOfTheSameLevelFunctions) {
  EXPECT_EQ(placed("B", "ds", "2", "B(x,y) -> M(x)"),
            "Dense.finalize_universe_partition: by_bounds\n"
            "Dense.finalize_universe_partition: contract\n"
            "Compressed.partition_from_parent: copy\n"
            "Compressed.partition_from_parent: image\n");
  EXPECT_EQ(placed("B", "ss", "2", "B(x,y) -> M(x)"),
            "Compressed.finalize_universe_partition: by_value_ranges\n"
            "Compressed.finalize_universe_partition: preimage\n"
            "Compressed.partition_from_parent: copy\n"
            "Compressed.partition_from_parent: image\n");
  EXPECT_EQ(placed("B", "ds", "2", "B(x,y) fuse(x,y,f) -> M(~f)"),
            "Compressed.finalize_non_zero_partition: by_bounds\n"
            "Compressed.finalize_non_zero_partition: preimage\n"
            "Dense.partition_from_child: copy\n"
            "Dense.partition_from_child: contract\n");
  EXPECT_EQ(placed("B", "ds", "2", "B(x,y) -> M(y)"),
            "Compressed.finalize_universe_partition: by_value_ranges\n"
            "Compressed.finalize_universe_partition: preimage\n"
            "Dense.partition_from_child: copy\n"
            "Dense.partition_from_child: contract\n");
  // A share of the tubes, and all that hangs from them.
  EXPECT_EQ(placed("B", "dss", "2", "B(x,y,z) fuse(x,y,f) -> M(~f)"),
            "Compressed.finalize_non_zero_partition: by_bounds\n"
            "Compressed.finalize_non_zero_partition: preimage\n"
            "Dense.partition_from_child: copy\n"
            "Dense.partition_from_child: contract\n"
            "Compressed.partition_from_parent: copy\n"
            "Compressed.partition_from_parent: image\n");
  // A copy on every colour is not cut at all.
  EXPECT_EQ(placed("c", "d", "2", "c(x) -> M(y)"), "");
}

}  // namespace
}  // namespace spdistal
