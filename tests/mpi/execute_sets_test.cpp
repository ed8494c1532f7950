// What colours have of operands and results of random programs, in every step, against its definition.
#include <gtest/gtest.h>

#include <random>
#include <ranges>

#include "compile/homes.hpp"
#include "mpi/iterations.hpp"
#include "mpi/random_homes.hpp"
#include "mpi/ranks.hpp"
#include "notation/arithmetic.hpp"
#include "notation/presence.hpp"
#include "notation/print.hpp"
#include "schedule/statement.hpp"
#include "support/elements.hpp"
#include "support/leaves.hpp"
#include "support/random_distribution.hpp"
#include "support/random_number.hpp"
#include "support/random_program.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;
using runtime::Transport;
using test::Element;
using test::Turn;

struct Seen {
  int programs = 0, exact = 0, split = 0, gathered = 0, of_dense = 0, gathered_of_dense = 0;
  int in_steps = 0, idle = 0, shared = 0, results = 0, results_in_steps = 0, at_home = 0;
  std::map<plan::Returns, int> returns = {};
};

std::set<Element> elements_of(const Storage& piece) {
  std::set<Element> out;
  for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t) { out.insert({at.begin(), at.end()}); });
  return out;
}

std::string shown(const std::set<Element>& elements) {
  std::string out;
  for (const Element& at : elements) {
    out += " (";
    for (int64_t x : at) out += std::to_string(x) + ",";
    out.back() = ')';
  }
  return out;
}

// How many levels from the first on store what occurs and nothing else. Dense ones below sparse ones have places for what lies between,
// too, as bands have.
size_t exact_levels(const Format& format) {
  const std::vector<LevelFormat>& levels = format.levels();
  size_t k = 0;
  while (k < levels.size() && !fills_between(levels[k]) && (k == 0 || !stores_all(levels[k]))) k++;
  return k;
}

// Those of the elements found that are none of some, nor lie between them.
std::set<Element> beside(const std::set<Element>& some, const std::set<Element>& found, const Format& format) {
  std::vector<int> exact(format.mode_order().begin(), format.mode_order().begin() + long(exact_levels(format)));
  std::set<Element> between, out;
  auto above = [&](const Element& at) {
    Element coordinates;
    for (int d : exact) coordinates.push_back(at[size_t(d)]);
    return coordinates;
  };
  for (const Element& at : some) between.insert(above(at));
  bool all = exact.size() == format.order();
  std::ranges::copy_if(found, std::inserter(out, out.end()),
                       [&](const Element& at) { return all ? !some.contains(at) : !between.contains(above(at)); });
  return out;
}
std::set<Element> united(std::set<Element> a, const std::set<Element>& b) {
  a.insert(b.begin(), b.end());
  return a;
}
std::set<Element> missing(const std::set<Element>& needed, const std::set<Element>& found) {
  std::set<Element> out;
  std::ranges::set_difference(needed, found, std::inserter(out, out.end()));
  return out;
}

// A program that runs over pieces, and is looked at while it does.
class Watched {
 public:
  Watched(Transport& transport, const test::RandomProgram& program, const ConcreteStatement& statement,
          const Machine& machine, Seen& seen)
      : transport_(transport), seen_(seen), arrays_(program.arrays), compiled_(statement), machine_(machine) {
    process_.connect(std::shared_ptr<Transport>(&transport, [](Transport*) {}));
    const TensorVar& result = statement.result;
    arrays_.emplace(result, reference::DenseArray(result.fill(), known_dims(result)));
    for (const auto& [tensor, array] : arrays_) whole_.emplace(tensor, test::to_storage(array, tensor.format()));
  }

  const plan::Plan& plan() const { return compiled_.plan(); }

  void check(std::mt19937_64& random) {
    const TensorVar& result = loops().result;
    std::map<TensorVar, Home> homes;
    Homes operands;
    for (size_t k = 1; k < plan().accesses.size(); k++) {
      const TensorVar& tensor = plan().accesses[k].access.tensor;
      if (operands.contains(tensor)) continue;
      homes.emplace(tensor, scatter(transport_, whole_.at(tensor), draw_shares(random, tensor)));
      operands.emplace(tensor, &homes.at(tensor));
    }
    std::optional<Home> out;
    Shares shares = draw_shares(random, result);
    if (auto read = homes.find(result); read != homes.end()) shares = read->second.shares();
    if (test::one_in(random, 2)) compiled_.residence = Residence::Anywhere;
    bool again = loops().start == Start::Zero && !operands.contains(result);
    if (!again) out = scatter(transport_, whole_.at(result), shares);
    if (operands.contains(result)) operands[result] = &*out;

    BoundPlan bound(process_, compiled_, shares);
    bound.bind(operands);
    walk(bound.tasks());
    seen_.programs++;
    bound.show_to([&](const LeafRun& run, const Storage& made) {
      check_operands(bound, {run.colour, run.step});
      check_result(bound, {run.colour, run.step}, made);
    });
    for (int round = 0; round < (again ? 2 : 1); round++) {
      SCOPED_TRACE("round " + std::to_string(round));
      ran_.clear();
      bound.compute(operands, out);
      check_idle(bound.tasks());
      plan::Returns returns = *bound.facts().returns;
      if (again) check_home(*out, returns);
      seen_.returns[returns]++;
    }
  }

 private:
  const ConcreteStatement& loops() const { return compiled_.loops(); }

  Shares draw_shares(std::mt19937_64& random, const TensorVar& tensor) const {
    bool placed = tensor.order() > 0 && test::one_in(random, 2);
    // Places for what lies between are stored, and weigh, in the pieces that have something beside them.
    bool weighs = std::ranges::any_of(loops().provenance.relations, &Relation::block);
    const std::vector<LevelFormat>& levels = tensor.format().levels();
    bool between = exact_levels(tensor.format()) < levels.size() ||
                   std::ranges::any_of(levels | std::views::drop(1), counts_places);
    if (weighs && between) return undivided(known_dims(tensor));
    return homes_of(placed ? test::draw_placed(random, tensor, machine_) : tensor, transport_.size());
  }

  void walk(const Tasks& tasks) {
    for (const plan::AccessPlan& a : plan().accesses)
      if (!turns_.contains(a.loops.size()))
        turns_.emplace(a.loops.size(), test::walk_turns(loops(), plan(), a.loops.size(), tasks.grid(), whole_));
  }

  // The iterations that an access is fetched for, or the result comes home of: of one step or of several.
  struct Around {
    Turn turn;
    const test::Touched* touched;  // null: none
  };
  Around around(const Tasks& tasks, size_t access, const Turn& turn) const {
    Turn own{turn.colour, tasks.step_of(access, turn.step)};
    const auto& turns = turns_.at(plan().accesses[access].loops.size());
    auto touched = turns.find(own);
    return {own, touched == turns.end() ? nullptr : &touched->second};
  }

  // ---- operands, and where dense results are computed ----

  void check_operands(BoundPlan& bound, const Turn& turn) {
    if (!ran_.insert(turn).second) return;  // one chunk of several
    for (size_t k = 0; k < plan().accesses.size(); k++) {
      const TensorVar& tensor = plan().accesses[k].access.tensor;
      auto [own, touched] = around(bound.tasks(), k, turn);
      if (!touched) continue;
      seen_.in_steps += !own.step.empty();
      if (tensor.format().is_dense()) check_coordinates(bound, k, own, *touched);
      else if (k > 0) check_elements(bound, k, own, *touched);
    }
  }

  void check_elements(BoundPlan& bound, size_t k, const Turn& turn, const test::Touched& touched) {
    const plan::AccessPlan& a = plan().accesses[k];
    seen_.split += a.split.has_value();
    for (const plan::Projection& p : a.projections) seen_.gathered += std::holds_alternative<plan::Gather>(p);
    std::set<Element> found = elements_of((*bound.pieces()[k])[turn.colour]);
    test::Elements right = test::Definition(plan(), bound, whole_).of(k, turn, touched);
    EXPECT_EQ(shown(missing(right.needed, found)), "") << a.text << described(turn) << " lacks them";
    EXPECT_EQ(shown(beside(right.allowed, found, a.access.tensor.format())), "")
        << a.text << described(turn) << " has them, too";
    seen_.exact += right.needed == right.allowed && !right.needed.empty();
  }

  void check_coordinates(BoundPlan& bound, size_t k, const Turn& turn, const test::Touched& touched) {
    const plan::AccessPlan& a = plan().accesses[k];
    std::vector<int64_t> dims = known_dims(a.access.tensor);
    if (bound.tasks().is_idle(turn.colour, turn.step)) return;
    std::vector<runtime::Space> found =
        select_coordinates(a, bound.tasks().need(k, turn.colour, turn.step, bound.pieces()));
    test::Definition definition(plan(), bound, whole_);
    // Where it needs nothing of one dimension it needs nothing.
    std::vector<std::vector<test::Judged>> right(dims.size());
    bool needs_any = true;
    for (size_t d = 0; d < dims.size(); d++) {
      for (int64_t x = 0; x < dims[d]; x++) right[d].push_back(definition.of(k, turn, touched, d, x));
      needs_any &= std::ranges::any_of(right[d], &test::Judged::needed);
    }
    for (size_t d = 0; d < dims.size(); d++) {
      seen_.of_dense++;
      seen_.gathered_of_dense += std::holds_alternative<plan::Gather>(a.projections[d]);
      for (int64_t x = 0; x < dims[d]; x++) {
        bool has = found[d].contains(x);
        auto [needed, allowed] = right[d][size_t(x)];
        EXPECT_TRUE(has || !(needed && needs_any)) << a.text << described(turn) << " lacks " << x << " along " << d;
        EXPECT_TRUE(!has || allowed) << a.text << described(turn) << " has " << x << " along " << d;
      }
    }
  }

  // ---- results ----

  test::Computed computed(const Tasks& tasks, const Turn& turn) const {
    std::map<IndexVar, int64_t> values;
    for (const auto& [var, value] : tasks.values(turn.colour, turn.step)) values.emplace(var, value);
    return test::compute_turns(loops(), arrays_, values);
  }

  // What must be stored, and what may: what is kept in a temporary counts as there, and may be left out where it is what is not stored.
  test::Elements stored_of(const test::Computed& right) const {
    bool kept = false;
    each<Where>(loops().body, [&](const Where&) { kept = true; });
    Scalar nothing = convert(loops().result.fill(), right.array.type);
    test::Elements out;
    test::each_element(right.array.dims, [&](const Element& at, size_t position) {
      if (right.absent[position]) return;
      out.allowed.insert(at);
      if (!kept || !same_number(right.array.values[position], nothing)) out.needed.insert(at);
    });
    return out;
  }

  void check_result(BoundPlan& bound, const Turn& turn, const Storage& made) {
    if (loops().result.format().is_dense()) return;
    test::Computed right = computed(bound.tasks(), turn);
    check_stored(made, right, stored_of(right), described(turn), from_operand(bound, turn));
    seen_.results++;
    seen_.results_in_steps += !turn.step.empty();
  }

  // What a result that has the pattern of an operand may store, whatever iterations come to: all that the piece of the operand does.
  std::set<Element> from_operand(BoundPlan& bound, const Turn& turn) {
    auto piece = [&](const notation::Access& access) -> const Pattern* {
      return &(*bound.pieces()[number_of(plan(), access)])[turn.colour].pattern();
    };
    const lower::Lowered& kernel = compiled_.leaf(LeafKind::Piece, piece).kernel();
    std::set<Element> out;
    if (kernel.assembly != lower::Assembly::Shared) return out;
    const notation::Access& operand = kernel.operands[size_t(kernel.shared_tensor) - 1];
    for_each_position(*piece(operand), [&](std::span<const int64_t> at, int64_t) {
      Element to;
      for (const IndexVar& var : plan().accesses[0].access.indices)
        to.push_back(at[size_t(std::ranges::find(operand.indices, var) - operand.indices.begin())]);
      out.insert(to);
    });
    seen_.shared++;
    return out;
  }

  // Of a sparse result. Others may be there, too, to which no value has come here.
  void check_stored(const Storage& piece, const test::Computed& right, const test::Elements& elements,
                    const std::string& whose, const std::set<Element>& others) {
    const std::string& text = plan().accesses[0].text;
    reference::DenseArray found = test::to_array(piece);
    std::set<Element> stored = elements_of(piece);
    EXPECT_EQ(shown(missing(elements.needed, stored)), "") << text << whose << " lacks them";
    EXPECT_EQ(shown(beside(united(elements.allowed, others), stored, loops().result.format())), "")
        << text << whose << " has them, too";
    Scalar nothing = convert(background_of(loops()), found.type);
    for (const Element& at : stored) {
      const Scalar &value = found.at(at), wanted = elements.allowed.contains(at) ? right.array.at(at) : nothing;
      EXPECT_TRUE(same_number(value, wanted))
          << text << whose << shown({at}) << " is " << print(value) << ", not " << print(wanted);
    }
  }

  // Who runs no leaf has nothing to compute.
  void check_idle(const Tasks& tasks) {
    std::map<IndexVar, int64_t> none;
    for (const plan::Loop& loop : plan().loops) none.emplace(loop.var, -1);
    test::Computed nothing = test::compute_turns(loops(), arrays_, none);
    for (int64_t c = tasks.colours().lo; c < tasks.colours().hi; c++)
      for (const StepValues& step : tasks.steps()) {
        if (ran_.contains({c, step})) continue;
        EXPECT_TRUE(computed(tasks, {c, step}).array == nothing.array) << described({c, step}) << " has not run";
        seen_.idle++;
      }
  }

  // Where it lives colours have what their shares say of all that is stored.
  void check_home(const Home& home, plan::Returns returns) {
    bool joined = returns == plan::Returns::Joined;
    const Format& format = loops().result.format();
    if (format.is_dense()) return;
    test::Computed right = test::compute_turns(loops(), arrays_, {});
    Storage all = pack(gather(transport_, home), format);
    test::Elements elements = stored_of(right);
    check_stored(all, right, elements, " at home", {});
    std::vector<Coordinates> listed;
    listed.emplace_back(home.dims(), ScalarType::Float64);
    for (const Element& at : elements_of(all))
      if (elements.allowed.contains(at)) listed[0].add(std::span<const int64_t>(at), 0.0);
    runtime::testkit::HomeCase made{format, home.dims(), home.shares()};
    SCOPED_TRACE(describe(made));
    runtime::testkit::Whole whole = runtime::testkit::whole_of(made, listed);
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
      std::set<Element> held, between;
      for (const auto& [path, value] : whole.elements)
        if (is_held(made, whole, c, path))
          (whole.entries.contains(path) ? held : between).insert(from_path(made, path));
      std::set<Element> stored, first;
      // Where pieces were taken over, a piece may begin with a part of an element of the colour before.
      for_each_position(home.piece(c).pattern(), [&](std::span<const int64_t> at, int64_t position) {
        (joined && position == 0 ? first : stored).insert({at.begin(), at.end()});
      });
      std::string whose = " of colour " + std::to_string(c) + " at home";
      EXPECT_EQ(shown(missing(held, united(stored, first))), "") << whose << " lacks them";
      EXPECT_EQ(shown(beside(united(held, between), stored, format)), "") << whose << " has them, too";
      reference::DenseArray found = test::to_array(home.piece(c));
      for (const Element& at : held)
        EXPECT_TRUE(same_number(found.at(at), right.array.at(at)))
            << whose << shown({at}) << " is " << print(found.at(at)) << ", not " << print(right.array.at(at));
    }
    seen_.at_home++;
  }

  static std::string described(const Turn& turn) {
    std::string out = " of colour " + std::to_string(turn.colour);
    for (int64_t value : turn.step) out += ", step " + std::to_string(value);
    return out;
  }

  Transport& transport_;
  Seen& seen_;
  reference::Arrays arrays_;
  std::map<TensorVar, Storage> whole_;
  Compiled compiled_;
  Machine machine_;
  Process process_{test::options_for(test::Leaves::Interpreted)};
  std::map<size_t, std::map<Turn, test::Touched>> turns_;  // by how many loops
  std::set<Turn> ran_;
};

void check_sets(Transport& transport, uint64_t seed, Seen& seen) {
  std::mt19937_64 random{seed};
  test::RandomProgram program = test::draw_finite_program(random);
  ScheduledStatement said = make_statement(program.assignment);
  Machine machine = test::draw_machine(random);
  Watched watched(transport, program, test::draw_distributed(random, said.scheduled, &machine).statement, machine,
                  seen);
  if (watched.plan().loops.empty()) return;
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(program.assignment) + "\n" + plan::print(watched.plan()));
  try {
    watched.check(random);
  } catch (const std::exception& error) { ADD_FAILURE() << error.what(); }
}

TEST(Sets, OfRandomProgramsAreWhatIterationsComeTo) {
  runtime::testkit::on_ranks([&](Transport& transport) {
    Seen seen;
    uint64_t first = std::getenv("SEED") ? std::strtoull(std::getenv("SEED"), nullptr, 10) : 1;
    int alone = std::getenv("FULL_TESTS") ? 10000 : transport.size() == 1 ? 1000 : 300;
    uint64_t count = first - 1 + uint64_t(runtime::testkit::cases(alone, 200));
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
      EXPECT_GT(seen.in_steps, 5000);
      EXPECT_GT(seen.idle, 5000);
      EXPECT_GT(seen.results, 3000);
      EXPECT_GT(seen.results_in_steps, 3000);
      EXPECT_GT(seen.shared, 50);
      EXPECT_GT(seen.returns[plan::Returns::Stays], 15);
      EXPECT_GT(seen.returns[plan::Returns::Joined], 0);
      EXPECT_GT(seen.returns[plan::Returns::Merged], 500);
    }
  });
}

}  // namespace
}  // namespace spdistal
