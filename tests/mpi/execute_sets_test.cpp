// What plans of random programs say colours have of operands and results, against its definition: iterations of each colour walked one
// by one, and elements, or coordinates of dense tensors, taken one by one.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compile/homes.hpp"
#include "execute/bound_plan.hpp"
#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "mpi/ranks.hpp"
#include "notation/print.hpp"
#include "oracle/walk.hpp"
#include "schedule/statement.hpp"
#include "support/leaves.hpp"
#include "support/random_distribution.hpp"
#include "support/random_program.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {
namespace {

using namespace notation;
using runtime::Transport;
using test::Stored;
using test::Walk;
using Touched = std::map<IndexVar, std::optional<Range>>;

// The smallest ranges around the values that variables have in the iterations of each colour that has any.
std::map<int64_t, Touched> walk_colours(const ConcreteStatement& statement, const plan::Plan& plan,
                                        const runtime::ColourGrid& grid, const std::map<TensorVar, Storage>& whole) {
  std::vector<IndexVar> outer;
  for (const plan::Loop& loop : plan.loops) outer.push_back(loop.var);
  Stmt leaf = strip_loops(statement, outer).body;
  std::map<int64_t, Touched> out;
  Walk walk(statement, whole, 1);
  walk.turns(outer, [&] {
    std::vector<int64_t> point;
    for (const IndexVar& var : outer) point.push_back(walk.values.at(var));
    walk.touched.clear();
    for (const auto& [var, value] : walk.values) test::widen(walk.touched[var], value);
    walk.visit(leaf);
    out.emplace(grid.colour_at(point), walk.touched);
  });
  return out;
}

// What a colour has of an access, element by element: what it must have, and what it may. They differ where it has no iteration, where
// loops inside have no values, so that those around do not tell how far variables go, and where intervals are wider than what iterations
// come to, as those of variables that are put together of several with guards (tests/unit/notation/bounds_test.cpp has which).
struct Elements {
  std::set<std::vector<int64_t>> needed, allowed;
};
struct Judged {
  bool needed, allowed;
};

class Definition {
 public:
  Definition(const plan::Plan& plan, BoundPlan& bound, const std::map<TensorVar, Storage>& whole)
      : plan_(plan), tasks_(bound.tasks()), pieces_(bound.pieces()), whole_(whole) {}

  Elements of(size_t access, int64_t colour, const Touched& touched) const {
    const plan::AccessPlan& a = plan_.accesses[access];
    const Pattern& pattern = whole_.at(a.access.tensor).pattern();
    std::set<int64_t> stored;
    for_each_position(pattern, [&](std::span<const int64_t>, int64_t position) { stored.insert(position); });
    bool runs = runs_through(touched);
    std::set<int64_t> dealt = a.split ? positions(*a.split, touched) : std::set<int64_t>();
    Elements out;
    for (const Stored& s : test::stored_at(pattern, pattern.order() - 1)) {
      if (!stored.contains(s.positions.back())) continue;
      if (a.split && !dealt.contains(s.positions[a.split->level])) continue;
      std::vector<int64_t> at(pattern.order());
      for (size_t level = 0; level < at.size(); level++) at[a.dims[level]] = s.coordinates[level];
      bool needed = runs, allowed = true;
      for (size_t d = 0; d < at.size(); d++) {
        Judged judged = judge(a, d, at[d], colour, touched);
        needed &= judged.needed && !(std::holds_alternative<plan::Gather>(a.projections[d]) && has_places(a, d));
        allowed &= judged.allowed;
      }
      if (needed) out.needed.insert(at);
      if (allowed) out.allowed.insert(at);
    }
    return out;
  }

  // Of a dimension of a dense tensor: does a colour that runs through all its loops need a coordinate, and may it have it?
  Judged of(size_t access, int64_t colour, const Touched& touched, size_t d, int64_t coordinate) const {
    Judged out = judge(plan_.accesses[access], d, coordinate, colour, touched);
    return {out.needed && runs_through(touched), out.allowed};
  }

 private:
  bool runs_through(const Touched& touched) const {
    return std::ranges::all_of(plan_.accesses, [&](const plan::AccessPlan& other) {
      return std::ranges::all_of(other.access.indices, [&](const IndexVar& var) { return !!range_of(var, touched); });
    });
  }

  // As far as one dimension tells.
  Judged judge(const plan::AccessPlan& a, size_t d, int64_t coordinate, int64_t colour, const Touched& touched) const {
    std::optional<Range> range = range_of(a.access.indices[d], touched);
    bool within = range && range->contains(coordinate);
    bool beside =
        !range ||
        tasks_.bounds_of(plan_.bounds).of(a.access.indices[d], tasks_.values(colour, {})).contains(coordinate);
    if (std::holds_alternative<plan::Affine>(a.projections[d])) return {within, within || beside};
    auto* gather = std::get_if<plan::Gather>(&a.projections[d]);
    if (!gather) return {true, true};
    bool gathered = contains(*gather, coordinate, colour);
    return {gathered && within, gathered && (within || beside)};
  }

  static std::optional<Range> range_of(const IndexVar& var, const Touched& touched) {
    auto found = touched.find(var);
    return found == touched.end() ? std::nullopt : found->second;
  }
  // Where a level has places for coordinates, a piece has none for those that the leaf does not come to.
  static bool has_places(const plan::AccessPlan& a, size_t d) {
    return kernel_functions(a.access.tensor.format().levels()[a.access.tensor.format().level_of(d)]).place;
  }

  // Of the level that is dealt out: those above the positions that loops come to.
  std::set<int64_t> positions(const plan::PositionSplit& split, const Touched& touched) const {
    std::set<int64_t> out;
    std::optional<Range> range = range_of(split.position, touched);
    if (!range) return out;
    std::vector<Stored> all = test::stored_at(whole_.at(split.levels.access.tensor).pattern(), split.levels.last);
    for (int64_t p = range->lo; p < std::min(range->hi, int64_t(all.size())); p++)
      out.insert(all[size_t(p)].positions[split.level]);
    return out;
  }

  bool contains(const plan::Gather& gather, int64_t coordinate, int64_t colour) const {
    int64_t beyond = coordinate - gather.offset;
    return beyond % gather.stride == 0 && contains(gather.set, beyond / gather.stride, colour);
  }
  bool contains(const plan::Set& set, int64_t value, int64_t colour) const {
    return match(
        set, [](const plan::Everything&) { return true; },
        [&](const plan::Both& n) { return contains(n.a, value, colour) && contains(n.b, value, colour); },
        [&](const plan::Either& n) { return contains(n.a, value, colour) || contains(n.b, value, colour); },
        [&](const plan::Occurring& n) {
          bool occurs = false;
          size_t d = plan_.accesses[n.access].dims[n.level];
          for_each_position((*pieces_[n.access])[colour].pattern(), [&](std::span<const int64_t> at, int64_t) {
            occurs |= at[d] == n.offset + n.stride * value;
          });
          return occurs;
        });
  }

  const plan::Plan& plan_;
  const Tasks& tasks_;
  const Tasks::Pieces& pieces_;
  const std::map<TensorVar, Storage>& whole_;
};

struct SeenSets {
  int programs = 0, exact = 0, split = 0, gathered = 0, of_dense = 0, gathered_of_dense = 0;
};

void check_coordinates(const Definition& definition, BoundPlan& bound, const plan::Plan& plan, size_t access,
                       const std::map<int64_t, Touched>& colours, SeenSets& seen) {
  const plan::AccessPlan& a = plan.accesses[access];
  std::vector<int64_t> dims = known_dims(a.access.tensor);
  for (int64_t c = bound.tasks().colours().lo; c < bound.tasks().colours().hi; c++) {
    auto touched = colours.find(c);
    if (touched == colours.end() || bound.tasks().is_idle(c, {})) continue;
    std::vector<runtime::Space> found = select_coordinates(a, bound.tasks().need(access, c, {}, bound.pieces()));
    // Where it needs nothing of one dimension it needs nothing.
    std::vector<std::vector<Judged>> right(dims.size());
    bool needs_any = true;
    for (size_t d = 0; d < dims.size(); d++) {
      for (int64_t x = 0; x < dims[d]; x++) right[d].push_back(definition.of(access, c, touched->second, d, x));
      needs_any &= std::ranges::any_of(right[d], &Judged::needed);
    }
    for (size_t d = 0; d < dims.size(); d++) {
      seen.of_dense++;
      seen.gathered_of_dense += std::holds_alternative<plan::Gather>(a.projections[d]);
      for (int64_t x = 0; x < dims[d]; x++) {
        bool has = runtime::contains(found[d], runtime::Space::interval(x, x + 1));
        auto [needed, allowed] = right[d][size_t(x)];
        EXPECT_TRUE(has || !(needed && needs_any)) << a.text << ", colour " << c << " lacks " << x << " along " << d;
        EXPECT_TRUE(!has || allowed) << a.text << ", colour " << c << " has " << x << " along " << d;
      }
    }
  }
}

void check_sets(Transport& transport, uint64_t seed, SeenSets& seen) {
  std::mt19937_64 random{seed};
  test::RandomProgram program = test::draw_finite_program(random);
  ScheduledStatement said = make_statement(program.assignment);
  Compiled compiled(test::draw_distributed(random, said.scheduled).statement);
  const ConcreteStatement& statement = compiled.loops();
  const plan::Plan& plan = compiled.plan();
  bool steps =
      std::ranges::any_of(plan.loops, [](const plan::Loop& loop) { return loop.kind == plan::Loop::Kind::Step; });
  if (steps || plan.loops.empty()) return;
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(statement) + "\n" + plan::print(plan));

  std::map<TensorVar, Storage> whole;
  std::map<TensorVar, Home> homes;
  for (const auto& [tensor, array] : program.arrays) {
    whole.emplace(tensor, test::to_storage(array, tensor.format()));
    homes.emplace(tensor, scatter(transport, whole.at(tensor), homes_of(tensor, transport.size())));
  }
  Homes operands;
  for (size_t k = 1; k < plan.accesses.size(); k++) {
    const TensorVar& tensor = plan.accesses[k].access.tensor;
    if (!homes.contains(tensor)) return;  // a copy that is made first
    operands.emplace(tensor, &homes.at(tensor));
  }
  Process process(test::options_for(test::Leaves::Interpreted));
  process.connect(std::shared_ptr<Transport>(&transport, [](Transport*) {}));
  BoundPlan bound(process, compiled, homes_of(statement.result, transport.size()));
  bound.bind(operands);

  seen.programs++;
  Definition definition(plan, bound, whole);
  std::map<int64_t, Touched> colours = walk_colours(statement, plan, bound.tasks().grid(), whole);
  for (size_t k = 0; k < plan.accesses.size(); k++) {
    const plan::AccessPlan& a = plan.accesses[k];
    if (a.access.tensor.format().is_dense()) {
      check_coordinates(definition, bound, plan, k, colours, seen);
      continue;
    }
    if (k == 0) continue;  // of sparse results nothing is known before
    seen.split += a.split.has_value();
    for (const plan::Projection& p : a.projections) seen.gathered += std::holds_alternative<plan::Gather>(p);
    for (int64_t c = bound.tasks().colours().lo; c < bound.tasks().colours().hi; c++) {
      auto touched = colours.find(c);
      if (touched == colours.end()) continue;
      std::set<std::vector<int64_t>> found;
      for_each_position((*bound.pieces()[k])[c].pattern(), [&](std::span<const int64_t> at, int64_t) {
        found.insert({at.begin(), at.end()});
      });
      Elements right = definition.of(k, c, touched->second);
      EXPECT_TRUE(std::ranges::includes(found, right.needed)) << a.text << ", colour " << c << " lacks elements";
      // Dense levels below sparse ones have places for what lies between, too, as bands have.
      const std::vector<LevelFormat>& levels = a.access.tensor.format().levels();
      bool padded = std::ranges::any_of(levels, fills_between);
      for (size_t level = 1; level < levels.size(); level++) padded |= stores_all(levels[level]);
      EXPECT_TRUE(padded || std::ranges::includes(right.allowed, found))
          << a.text << ", colour " << c << " has too many";
      seen.exact += right.needed == right.allowed && !right.needed.empty();
    }
  }
}

TEST(Sets, OfRandomProgramsAreWhatIterationsComeTo) {
  runtime::testkit::on_ranks([&](Transport& transport) {
    SeenSets seen;
    uint64_t first = std::getenv("SEED") ? std::strtoull(std::getenv("SEED"), nullptr, 10) : 1;
    uint64_t count = first - 1 + uint64_t(runtime::testkit::cases(1000, 200));
    for (uint64_t seed = first; seed <= count && !HasFailure(); seed++) {
      runtime::testkit::announce(transport, "sets", seed);
      check_sets(transport, seed, seen);
    }
    if (transport.size() == 1 && !HasFailure()) {
      EXPECT_GT(seen.programs, 500);
      EXPECT_GT(seen.exact, 700);
      EXPECT_GT(seen.split, 30);
      EXPECT_GT(seen.gathered, 30);
      EXPECT_GT(seen.of_dense, 500);
      EXPECT_GT(seen.gathered_of_dense, 50);
    }
  });
}

}  // namespace
}  // namespace spdistal
