// Kernels on pieces against the dense evaluator: loops around the kernel are run here, one turn after the other; for each
// the operands are cut down to what its iterations touch, found by walking them one by one, and what comes out is added
// up by coordinates.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "codegen/jit.hpp"
#include "codegen/memory.hpp"
#include "driver/leaf.hpp"
#include "driver/state.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "reference/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "schedule/parse.hpp"
#include "support/formats.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

void widen(std::optional<Range>& hull, int64_t value) {
  if (!hull) hull = Range{value, value + 1};
  else hull = Range{std::min(hull->lo, value), std::max(hull->hi, value + 1)};
}
void widen(std::optional<Range>& hull, const std::optional<Range>& more) {
  if (more && more->size() > 0) widen(hull, more->lo), widen(hull, more->hi - 1);
}

/// A position of a level of a whole tensor: its coordinates, and the positions above it, from the first level on.
struct Stored {
  std::vector<int64_t> coordinates, positions;
};
std::vector<Stored> stored_at(const Pattern& pattern, size_t last) {
  std::vector<Stored> above{{}};
  for (size_t k = 0; k <= last; k++) {
    const LevelFunctions& level = functions_of(pattern.format().levels()[k]);
    std::vector<Stored> here;
    for (const Stored& parent : above) {
      Range below = level.children(pattern.level(k), k == 0 ? 0 : parent.positions.back());
      for (int64_t p = below.lo; p < below.hi; p++) {
        here.push_back(parent);
        here.back().coordinates.push_back(level.coordinate(pattern.level(k), p));
        here.back().positions.push_back(p);
      }
    }
    above = std::move(here);
  }
  return above;
}

/// The iterations of a statement, walked without regard to what is stored except where loops count positions.
class Walk {
 public:
  /// A number of pieces that is not known is `pieces`.
  Walk(const ConcreteStatement& statement, const std::map<TensorVar, Storage>& whole, int64_t pieces)
      : statement_(statement), whole_(whole), pieces_(pieces) {}

  /// f() for every turn of the outer loops, which are the outermost of the statement.
  void turns(const std::vector<IndexVar>& outer, const std::function<void()>& f, size_t next = 0) {
    if (next == outer.size()) return f();
    each_value(outer[next], [&] { turns(outer, f, next + 1); });
  }
  /// Walks the loops that are left.
  void visit(const Stmt& stmt) {
    if (auto* loop = stmt.as<Forall>()) return each_value(loop->var, [&] { visit(loop->body); });
    children(stmt, [&](const auto& child) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(child)>, Stmt>) visit(child);
    });
  }

  std::map<IndexVar, int64_t> values;
  std::map<IndexVar, std::optional<Range>> touched;  // values of variables since it was last cleared

 private:
  void each_value(const IndexVar& var, const std::function<void()>& f) {
    const Root* root = statement_.provenance.root(var);
    int64_t begin = root && root->fixed ? *root->fixed : 0, end = root && root->fixed ? begin + 1 : size(var);
    std::map<IndexVar, int64_t> saved = values;
    for (int64_t v = begin; v < end; v++) {
      values[var] = v;
      bool inside = find_values();
      // Positions are gone to before what follows from them is compared with sizes.
      for (const auto& [known, value] : values)
        if (inside || statement_.provenance.positions_of(known)) widen(touched[known], value);
      if (inside) f();
      values = saved;
    }
  }
  // False where a value lies beyond its size; it is left out, and what follows from it.
  bool find_values() {
    bool inside = true;
    const std::vector<Relation>& relations = statement_.provenance.relations;
    for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
      std::vector<IndexVar> needs = relation->needs();
      bool known = std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return values.contains(v); });
      if (!known || values.contains(relation->replaced[0].var)) continue;
      for (const Replaced& r : relation->replaced) {
        values[r.var] = number(r.value);
        if (r.guard == Guard::Checked && values[r.var] >= size(r.var)) {
          values.erase(r.var);
          inside = false;
          continue;
        }
        auto* stored = r.value.as<StoredCoordinate>();
        for (size_t level = stored ? stored->levels.first : 1; stored && level <= stored->levels.last; level++)
          values[stored->levels.var(level)] =
              positions(stored->levels)[size_t(number(stored->position))].coordinates[level];
      }
    }
    return inside;
  }
  int64_t size(const IndexVar& var) {
    if (const Root* root = statement_.provenance.root(var)) return *root->size.value();
    for (const Made& made : statement_.provenance.made_by(var)->made)
      if (made.var == var) return number(made.size);
    return 0;
  }
  int64_t number(const IndexExpr& expr) {
    return match(
        expr, [&](const ValueOf& n) { return values.at(n.var); }, [&](const SizeOf& n) { return size(n.var); },
        [&](const notation::Number& n) { return n.value.value().value_or(pieces_); },
        [&](const IndexBinary& n) -> int64_t {
          int64_t a = number(n.a), b = number(n.b);
          switch (n.op) {
            case IndexOp::Add: return a + b;
            case IndexOp::Mul: return a * b;
            case IndexOp::Div: return a / b;
            case IndexOp::Mod: return a % b;
            default: return (a + b - 1) / b;
          }
        },
        [&](const StoredCount& n) { return int64_t(positions(n.levels).size()); },
        [&](const StoredCoordinate& n) {
          int64_t fused = 0;
          Stored at = positions(n.levels)[size_t(number(n.position))];
          for (size_t level = n.levels.first; level <= n.levels.last; level++)
            fused = fused * size(n.levels.var(level)) + at.coordinates[level];
          return fused;
        });
  }
  std::vector<Stored> positions(const Levels& levels) {
    std::vector<Stored> all = stored_at(whole_.at(levels.access.tensor).pattern(), levels.last);
    std::erase_if(all, [&](const Stored& s) {
      for (size_t level = 0; level < levels.first; level++)
        if (s.coordinates[level] != values.at(levels.var(level))) return true;
      return false;
    });
    return all;
  }

  const ConcreteStatement& statement_;
  const std::map<TensorVar, Storage>& whole_;
  int64_t pieces_;
};

/// How kernels are called in a test.
using Caller = std::function<Leaf::Run(const Leaf&)>;

/// One statement in pieces.
class InPieces {
 public:
  InPieces(const Assignment& assignment, const ConcreteStatement& statement, std::vector<IndexVar> outer,
           const reference::Arrays& arrays, std::mt19937_64& random, int64_t threads, int64_t parts = 1)
      : assignment_(assignment),
        statement_(statement),
        outer_(std::move(outer)),
        arrays_(arrays),
        random_(random),
        parts_(parts),
        context_(threads) {
    for (const auto& [tensor, array] : arrays) whole_.emplace(tensor, test::to_storage(array, tensor.format()));
    for (const auto& [tensor, storage] : whole_) storages_.emplace(tensor, &storage);
  }

  const Storages& storages() const { return storages_; }

  /// Does a piece of every access have all positions that the loops come to? Not below positions without entries.
  bool can_be_cut() const {
    for (const Relation& relation : statement_.provenance.relations)
      if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>()) {
        const Format& format = stored->levels.access.tensor.format();
        for (size_t level = stored->levels.last; level < format.order(); level++)
          if (level + 1 < format.order() && format.levels()[level].properties().full) return false;
      }
    return true;
  }

  void check(const Caller& caller) {
    LeafOptions options{.outer = outer_, .operands = lower::Operands::Pieces, .start = Start::Zero};
    Leaf leaf(statement_, storages_, options);
    options.start = Start::Old;
    Leaf adding(statement_, storages_, options);
    SCOPED_TRACE(ir::print(leaf.kernel().function));
    for (const Leaf* each : {&leaf, &adding})
      if (Result<> legal = ir::verify(each->kernel().function); !legal) FAIL() << legal.refusal().str();
    if (Result<> sound = verify(leaf.statement(), outer_); !sound) FAIL() << sound.refusal().str();
    assembly = leaf.kernel().assembly;

    const TensorVar& result = assignment_.lhs.tensor;
    reference::Array wanted = [&] {
      reference::Arrays all = arrays_;
      reference::evaluate(assignment_, all);
      return all.at(result);
    }();
    reference::Array sum(result.type(), wanted.dims);
    if (statement_.start == Start::Old) sum = arrays_.at(result);
    bool dense = assembly == lower::Assembly::Dense;
    Storage in_place = test::to_storage(sum, in_place_format(result));

    Leaf::Run run = caller(leaf), run_adding = caller(adding);
    Walk walk(statement_, whole_, parts_);
    walk.turns(outer_, [&] {
      std::string turn = "turn";
      for (const IndexVar& var : outer_) turn += " " + std::to_string(walk.values.at(var));
      SCOPED_TRACE(turn);
      if (::testing::Test::HasFatalFailure()) return;
      try {
        walk.touched.clear();
        for (const auto& [var, value] : walk.values) widen(walk.touched[var], value);
        walk.visit(strip_loops(statement_, outer_).body);
        cut(leaf.kernel(), walk);
        auto number = [&](const lower::RunTimeNumber& n) { return number_of(leaf.kernel(), walk, n); };
        LeafInputs inputs(leaf, pointers(), number);
        std::vector<Range> bounds = bounds_of(leaf.kernel(), walk, 0);
        Storage part = leaf.compute(inputs, bounds, context_, run);
        if (Result<> sound = verify(part); !sound) FAIL() << sound.refusal().str();
        add(part, sum);
        if (!dense) return;
        // In place, as a part of a larger array: from nothing, and on top of what is there.
        Storage larger = test::to_storage(wanted, in_place_format(result));
        with_type(result.type(), [&](auto zero) {
          for (auto& value : larger.values<decltype(zero)>()) value = decltype(zero)(1);
        });
        Storage before = larger.clone();
        View view = part_of(larger, bounds);
        leaf.compute_into(view, inputs, context_, run);
        expect_part(larger, before, part);
        View total = part_of(in_place, bounds);
        LeafInputs adding_inputs(adding, pointers(), number);
        adding.compute_into(total, adding_inputs, context_, run_adding);
      } catch (const std::exception& error) { FAIL() << error.what(); }
    });
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(sum == wanted);
    if (dense) { ASSERT_TRUE(test::to_array(in_place) == wanted); }
  }

  lower::Assembly assembly = lower::Assembly::Dense;

 private:
  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  static Format in_place_format(const TensorVar& result) {
    return Format(result.format().levels(), result.format().mode_order());
  }

  // ---- pieces ----

  const Levels* positions_of(const notation::Access& access, bool from_first) const {
    for (const Relation& relation : statement_.provenance.relations)
      if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>();
          stored && structurally_equal(stored->levels.access, access) && (!from_first || stored->levels.first == 0))
        return &stored->levels;
    return nullptr;
  }
  // The positions of an access that the turn's loops count, of the whole tensor.
  std::optional<Range> counted(const notation::Access& access, Walk& walk) const {
    for (const Relation& relation : statement_.provenance.relations)
      if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>();
          stored && structurally_equal(stored->levels.access, access) && stored->levels.first == 0)
        return walk.touched[relation.made[0].var];
    return std::nullopt;
  }

  void cut(const lower::Kernel& kernel, Walk& walk) {
    std::vector<Coordinates> entries;
    stored_coordinates_.clear();
    for (const notation::Access& access : kernel.operands) {
      const Storage& whole = whole_.at(access.tensor);
      const Format& format = access.tensor.format();
      const Levels* from_first = positions_of(access, true);
      bool by_coordinates = !positions_of(access, false);  // where loops count positions, all of them are there
      std::optional<Range> positions = counted(access, walk);
      std::vector<std::optional<Range>> wide(format.order());
      for (size_t d = 0; d < format.order(); d++) {
        wide[d] = walk.touched[access.indices[d]];
        if (wide[d] && draw(0, 2) == 0) wide[d]->lo = draw(0, wide[d]->lo);
        if (wide[d] && draw(0, 2) == 0) wide[d]->hi = draw(wide[d]->hi, whole.dims()[d]);
      }
      Coordinates kept(whole.dims(), whole.type());
      std::vector<Stored> all =
          format.order() == 0 ? std::vector<Stored>{{}} : stored_at(whole.pattern(), format.order() - 1);
      for (const Stored& s : all) {
        std::vector<int64_t> at(format.order());
        bool keep = true;
        for (size_t k = 0; k < format.order(); k++) {
          size_t d = size_t(format.mode_order()[k]);
          at[d] = s.coordinates[k];
          if (by_coordinates) keep &= wide[d] && wide[d]->contains(at[d]);
        }
        if (from_first) keep &= positions && positions->contains(s.positions[from_first->last]);
        if (!keep) continue;
        int64_t position = format.order() == 0 ? 0 : s.positions.back();
        with_type(whole.type(), [&](auto zero) {
          kept.add(std::span<const int64_t>(at), whole.values<decltype(zero)>()[size_t(position)]);
        });
        for (size_t k = 0; k < format.order(); k++)
          if (!format.levels()[k].properties().full)
            widen(stored_coordinates_[access.indices[size_t(format.mode_order()[k])]],
                  at[size_t(format.mode_order()[k])]);
      }
      entries.push_back(std::move(kept));
    }
    pieces_.clear();
    for (size_t k = 0; k < entries.size(); k++) {
      std::vector<Range> bounds = bounds_of(kernel, walk, int(k) + 1);
      for (size_t d = 0; d < bounds.size(); d++) {
        std::optional<Range> hull;
        widen(hull, bounds[d]);
        for (int64_t c : entries[k].column(d)) widen(hull, c);
        if (hull) bounds[d] = *hull;
      }
      pieces_.push_back(pack(std::move(entries[k]), kernel.operands[k].tensor.format(), bounds));
    }
  }

  // What the dense levels of a piece have to cover, dimension by dimension, and sometimes more.
  std::vector<Range> bounds_of(const lower::Kernel& kernel, Walk& walk, int tensor) {
    const notation::Access access = tensor == 0 ? result_access() : kernel.operands[size_t(tensor) - 1];
    std::vector<Range> out;
    for (size_t d = 0; d < access.indices.size(); d++) {
      const IndexVar& var = access.indices[d];
      int64_t n = *access.tensor.dims()[d].value();
      size_t level = access.tensor.format().level_of(d);
      lower::LevelOfTensor here{tensor, level};
      bool whole = std::find(kernel.whole_levels.begin(), kernel.whole_levels.end(), here) != kernel.whole_levels.end();
      bool swept = std::find(kernel.swept.begin(), kernel.swept.end(), var) != kernel.swept.end();
      std::optional<Range> hull = walk.touched[var];
      // Where loops visit only what is stored, its bounds will do.
      if (!swept && stored_coordinates_[var]) hull = stored_coordinates_[var];
      Range range = hull.value_or(Range{n / 2, n / 2});
      if (draw(0, 3) == 0) range.lo = draw(0, range.lo);
      if (draw(0, 3) == 0) range.hi = draw(range.hi, n);
      out.push_back(whole ? Range{0, n} : range);
    }
    return out;
  }
  notation::Access result_access() const {
    std::optional<notation::Access> out;
    each<Assign>(statement_.body, [&](const Assign& a) {
      if (a.lhs.tensor == statement_.result) out = a.lhs;
    });
    return *out;
  }

  std::vector<const Storage*> pointers() const {
    std::vector<const Storage*> out;
    for (const Storage& piece : pieces_) out.push_back(&piece);
    return out;
  }

  int64_t number_of(const lower::Kernel& kernel, Walk& walk, const lower::RunTimeNumber& number) const {
    if (auto* outer = std::get_if<lower::OuterValue>(&number)) return walk.values.at(outer->var);
    if (auto* count = std::get_if<lower::PositionCount>(&number))
      return whole_.at(kernel.operands[size_t(count->operand)].tensor).pattern().level(count->level).positions;
    if (auto* base = std::get_if<lower::PositionBase>(&number)) {
      const notation::Access& access = kernel.operands[size_t(base->operand)];
      const Levels* levels = positions_of(access, true);
      std::optional<Range> positions = counted(access, walk);
      if (!positions) return 12345;  // there are none, and nothing may come of it
      return stored_at(whole_.at(access.tensor).pattern(), levels->last)[size_t(positions->lo)].positions[base->level];
    }
    return parts_;
  }

  // ---- results ----

  static void add(const Storage& part, reference::Array& sum) {
    with_type(part.type(), [&](auto zero) {
      for_each<decltype(zero)>(part, [&](std::span<const int64_t> at, auto value) {
        Scalar& element = sum.at({at.begin(), at.end()});
        element = reference::convert(reference::compute(BinaryOp::Add, element, Scalar(value)), sum.type);
      });
    });
  }
  // The part of a dense array within bounds.
  static View part_of(Storage& array, const std::vector<Range>& bounds) {
    std::vector<Range> ranges;
    std::vector<int64_t> strides;
    int64_t first = 0;
    for (int dim : array.format().mode_order()) {
      ranges.push_back(bounds[size_t(dim)]);
      strides.push_back(array.dims()[size_t(dim)]);
      first = first * strides.back() + ranges.back().lo;
    }
    return View(ranges, strides, array.value_bytes() + size_t(first) * size_of(array.type()), array.type());
  }
  static void expect_part(const Storage& larger, const Storage& before, const Storage& part) {
    reference::Array wanted = test::to_array(before);
    with_type(part.type(), [&](auto zero) {
      for_each<decltype(zero)>(part, [&](std::span<const int64_t> at, auto value) {
        wanted.at({at.begin(), at.end()}) = Scalar(value);
      });
    });
    ASSERT_TRUE(test::to_array(larger) == wanted) << "as a part of a larger array";
  }

  const Assignment& assignment_;
  const ConcreteStatement& statement_;
  std::vector<IndexVar> outer_;
  const reference::Arrays& arrays_;
  std::mt19937_64& random_;
  int64_t parts_;  // the number of parts where it is not known when compiling
  codegen::HostContext context_;
  std::map<TensorVar, Storage> whole_;
  Storages storages_;
  std::vector<Storage> pieces_;
  std::map<IndexVar, std::optional<Range>> stored_coordinates_;  // at sparse levels of the pieces
};

Leaf::Run interpreted(const Leaf& leaf) {
  return [interpret = ir::Interpreter(leaf.function(), ir::Races::Found)](spd_call& call) { interpret(call); };
}

std::vector<IndexVar> first_loops(const ConcreteStatement& statement, size_t count) {
  std::vector<IndexVar> out;
  for (const Forall& loop : outer_loops(statement.body))
    if (out.size() < count) out.push_back(loop.var);
  return out;
}

// ---- statements with a name ---------------------------------------------------------------------------------------------

/// Every variable has a size of its own, or all have the same one: where a tensor is indexed in two ways.
enum class Sizes { Own, Same };

struct Named {
  std::string name;       // a sentence
  std::string statement;  // "A(i,j) = B(i,k) * C(k,j)"
  std::string formats;    // "A:ds B:ds:1,0"; tensors that are not listed are dense
  std::string schedule;
  size_t outer = 1;  // so many loops run around the kernel
  Sizes sizes = Sizes::Own;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.statement << "  " << named.formats; }
std::string name_of(const ::testing::TestParamInfo<Named>& info) { return info.param.name; }

void check_named(const Named& named, uint64_t seed, const Caller& caller) {
  std::mt19937_64 random{seed};
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  std::map<std::string, Extent> sizes;
  int64_t common = seed <= 2 ? int64_t(seed) - 1 : number(2, 9);  // the first two seeds: no elements, and one
  auto size = [&](const IndexVar& var) {
    std::string name = Printer().name(var);
    if (!sizes.contains(name)) {
      Param param;
      int64_t n = named.sizes == Sizes::Same || seed <= 2 ? common : number(1, 9);
      param = n;
      sizes.emplace(name, number(0, 1) ? Extent(n) : Extent(param));
    }
    return sizes.at(name);
  };
  Scope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (const IndexVar& index : indices) dims.push_back(size(index));
    Format format = test::format_of(named.formats, name.text, indices.size());
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, format});
  };
  Assignment assignment = parse_assignment(named.statement, scope);
  reference::Arrays arrays;
  std::string trace = "seed " + std::to_string(seed) + ":";
  for (const TensorVar& tensor : tensors(assignment)) {
    reference::Array array = test::draw_array(random, tensor);
    for (int64_t n : array.dims) trace += " " + std::to_string(n);
    arrays.emplace(tensor, std::move(array));
    trace += ";";
  }
  // The size of the machine is known when compiling, or only when running.
  int64_t parts = number(1, 5);
  Machine machine = number(0, 1) ? Machine{Grid(parts, parts)} : Machine{Grid(Param("p"), Param("q"))};
  ConcreteStatement statement = concretize(assignment).value();
  statement = schedule::apply_text(named.schedule, {scope, &machine}, statement).statement;
  SCOPED_TRACE(trace + "\n" + Printer()(statement));
  InPieces(assignment, statement, first_loops(statement, named.outer), arrays, random, int64_t(1 + seed % 3), parts)
      .check(caller);
}

class InParts : public ::testing::TestWithParam<Named> {};

TEST_P(InParts, AreRight) {
  for (uint64_t seed = 1; seed <= 30 && !HasFailure(); seed++) try {
      check_named(GetParam(), seed, interpreted);
    } catch (const std::exception& error) { FAIL() << "seed " << seed << ": " << error.what(); }
}

const std::string rows = "divide(i,io,ii,M.x); distribute(io); parallelize(ii,CPUThread)";
const std::string matrix_positions =
    "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); parallelize(fi,CPUThread)";

std::vector<Named> by_rows() {
  std::vector<Named> out;
  for (const auto& [name, format] : {std::pair<std::string, std::string>{"CSR", "ds"},
                                     {"CSC", "ds:1,0"},
                                     {"DCSR", "ss"},
                                     {"COO", "uq"},
                                     {"SparseRows", "sd"},
                                     {"Dense", "dd"}}) {
    auto formats = [&](const std::string& a, const std::string& more) { return a + "B:" + format + more; };
    out.push_back({"SpMVOf" + name, "a(i) = B(i,j) * c(j)", formats("", ""), "reorder(i,j); " + rows});
    out.push_back(
        {"SpMVIntoASparseVectorOf" + name, "a(i) = B(i,j) * c(j)", formats("a:s ", ""), "reorder(i,j); " + rows});
    out.push_back({"SpMMOf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("", ""), "reorder(i,k,j); " + rows});
    out.push_back(
        {"SpGEMMIntoCSROf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ds ", " C:ds"), "reorder(i,k,j); " + rows});
    out.push_back(
        {"SpGEMMIntoDCSROf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ss ", " C:ss"), "reorder(i,k,j); " + rows});
    out.push_back({"SpGEMMIntoCSCOf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ds:1,0 ", " C:ds"),
                   "reorder(i,k,j); " + rows});
    out.push_back({"SDDMMIntoCSROf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:ds ", ""),
                   "reorder(i,j,k); " + rows});
    out.push_back({"SDDMMIntoTheSameOf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:" + format + " ", ""),
                   "reorder(i,j,k); " + rows});
    out.push_back({"SpAdd3IntoCSROf" + name, "A(i,j) = B(i,j) + C(i,j) + D(i,j)", formats("A:ds ", " C:ds D:ss"),
                   "reorder(i,j); " + rows});
    out.push_back({"SpAdd3IntoDenseOf" + name, "A(i,j) = B(i,j) + C(i,j) + D(i,j)", formats("", " C:ds D:ss"),
                   "reorder(i,j); " + rows});
    out.push_back({"ACopyIntoCSCOf" + name, "A(i,j) = B(i,j)", formats("A:ds:1,0 ", ""), "reorder(i,j); " + rows});
    out.push_back({"ATransposeIntoCSROf" + name, "A(i,j) = B(j,i)", formats("A:ds ", ""), "reorder(i,j); " + rows});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(ByRows, InParts, ::testing::ValuesIn(by_rows()), name_of);

std::vector<Named> by_positions() {
  std::vector<Named> out;
  for (const auto& [name, format] : {std::pair<std::string, std::string>{"CSR", "ds"},
                                     {"DCSR", "ss"},
                                     {"COO", "uq"},
                                     {"SparseRows", "sd"},
                                     {"Dense", "dd"}}) {
    auto formats = [&](const std::string& a) { return a + "B:" + format; };
    out.push_back({"SpMVOf" + name, "a(i) = B(i,j) * c(j)", formats(""), "reorder(i,j); " + matrix_positions});
    out.push_back({"SpMVIntoASparseVectorOf" + name, "a(i) = B(i,j) * c(j)", formats("a:s "),
                   "reorder(i,j); " + matrix_positions});
    out.push_back({"SpMMOf" + name, "A(i,k) = B(i,j) * C(j,k)", formats(""), "reorder(i,j,k); " + matrix_positions});
    out.push_back(
        {"SpGEMMOf" + name, "A(i,k) = B(i,j) * C(j,k)", formats("A:ds C:ds "), "reorder(i,j,k); " + matrix_positions});
    out.push_back({"SDDMMOf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:" + format + " "),
                   "reorder(i,j,k); " + matrix_positions});
    out.push_back(
        {"ACopyIntoCSCOf" + name, "A(i,j) = B(i,j)", formats("A:ds:1,0 "), "reorder(i,j); " + matrix_positions});
  }
  std::string all = "fuse(j,k,jk); fuse(i,jk,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)";
  std::string fibres = "fuse(i,j,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)";
  for (const std::string format : {"sss", "dss", "uqq", "dds", "ssd", "dsd", "ddd"}) {
    out.push_back({"SpTTVOf" + format, "A(i,j) = B(i,j,k) * c(k)", "B:" + format, all});
    out.push_back({"SpTTVIntoDCSROf" + format, "A(i,j) = B(i,j,k) * c(k)", "A:ss B:" + format, all});
    out.push_back(
        {"MTTKRPOf" + format, "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:" + format, "reorder(i,j,k,l); " + all});
    out.push_back({"MTTKRPByThreadsOf" + format, "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:" + format,
                   "reorder(i,j,k,l); " + all + "; split(fi,fio,fii,3); parallelize(fio,CPUThread)"});
    out.push_back({"ContractionByThreadsOf" + format, "a(i) = B(i,j,k) * c(k)", "B:" + format,
                   all + "; parallelize(fi,CPUThread)"});
  }
  for (const std::string format : {"sss", "dss"})
    out.push_back({"SpTTVByFibresOf" + format, "A(i,j) = B(i,j,k) * c(k)", "A:ss B:" + format, fibres});
  out.push_back({"SpTTVByRowsThatAreStored", "A(i,j) = B(i,j,k) * c(k)", "A:ss B:sss",
                 "pos(i,ip,B(i,j,k)); divide(ip,io,ii,M.x); distribute(io)"});
  return out;
}
INSTANTIATE_TEST_SUITE_P(ByPositions, InParts, ::testing::ValuesIn(by_positions()), name_of);

std::vector<Named> in_other_ways() {
  return {
      {"SpMVByColumns", "a(i) = B(i,j) * c(j)", "B:ds", "divide(j,jo,ji,M.x); reorder(jo,i,ji); distribute(jo)"},
      {"SpMVByColumnsOfCSC", "a(i) = B(i,j) * c(j)", "B:ds:1,0",
       "divide(j,jo,ji,M.x); reorder(jo,ji,i); distribute(jo)"},
      {"SpMVByTiles", "a(i) = B(i,j) * c(j)", "B:ds",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji); distribute({io,jo})", 2},
      {"SpMVByTilesOfCOO", "a(i) = B(i,j) * c(j)", "B:uq",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji); distribute({io,jo})", 2},
      {"SpMVByEveryFourthRow", "a(i) = B(i,j) * c(j)", "B:ds", "split(i,io,ii,4); reorder(ii,io,j); distribute(ii)"},
      {"AnIncrementByRows", "a(i) += B(i,j) * c(j)", "B:ds", "reorder(i,j); " + rows},
      {"SpMMByTiles", "A(i,j) = B(i,k) * C(k,j)", "B:ds",
       "reorder(i,k,j); divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,k,ji); distribute({io,jo})", 2},
      {"SpGEMMByTiles", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "reorder(i,k,j); divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,k,ji); distribute({io,jo})", 2},
      {"SpGEMMByWhatIsSummed", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "divide(k,ko,ki,M.x); reorder(ko,i,ki,j); distribute(ko)"},
      {"TheSquareOfAMatrixByRows", "A(i,j) = B(i,k) * B(k,j)", "A:ds B:ds", "reorder(i,k,j); " + rows, 1, Sizes::Same},
      {"TheSquareOfAMatrixByPositions", "A(i,j) = B(i,k) * B(k,j)", "A:ds B:ds",
       "reorder(i,k,j); fuse(i,k,f); pos(f,fp,B(i,k)); divide(fp,fo,fi,M.x); distribute(fo)", 1, Sizes::Same},
      {"SUMMAOfDenseMatrices", "A(i,j) = B(i,k) * C(k,j)", "",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
       "distribute({io,jo})",
       3},
      {"SUMMAOfSparseMatrices", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ki,ji); "
       "distribute({io,jo})",
       3},
      {"CannonOfDenseMatrices", "A(i,j) = B(i,k) * C(k,j)", "",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
       "rotate(ko,{io,jo},kos); distribute({io,jo})",
       3},
      {"MTTKRPOfCSFByRows", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:sss",
       "reorder(i,j,k,l); divide(i,io,ii,M.x); distribute(io)"},
      {"MTTKRPByTheMiddleDimension", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:dss",
       "reorder(i,j,k,l); divide(j,jo,ji,M.x); reorder(jo,i,ji,k,l); distribute(jo)"},
      {"TheInnerProductOfSparseTensors", "s = B(i,j,k) * C(i,j,k)", "B:sss C:dss", rows},
      {"PositionsBelowRows", "a(i) = B(i,j) * c(j)", "B:ds",
       "divide(i,io,ii,M.x); distribute(io); pos(j,jp,B(i,j)); split(jp,jpo,jpi,2)"},
  };
}
INSTANTIATE_TEST_SUITE_P(InOtherWays, InParts, ::testing::ValuesIn(in_other_ways()), name_of);

TEST(Pieces, AreRightWhenCompiled) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  std::vector<Named> all = in_other_ways();
  for (const std::vector<Named>& more : {by_rows(), by_positions()}) all.insert(all.end(), more.begin(), more.end());
  size_t step = std::getenv("FULL_TESTS") ? 1 : 7;
  for (size_t k = 0; k < all.size() && !HasFailure(); k += step) try {
      SCOPED_TRACE(all[k].name);
      check_named(all[k], 7, [&](const Leaf& leaf) -> Leaf::Run {
        return [kernel = jit.load(leaf.function())](spd_call& call) { kernel(call); };
      });
    } catch (const std::exception& error) { FAIL() << all[k].name << ": " << error.what(); }
}

// ---- how, not what --------------------------------------------------------------------------------------------------------

Leaf leaf_by_rows(const std::string& statement, const std::string& formats, const std::string& schedule) {
  Scope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, std::vector<Extent>(indices.size(), 32),
                      test::format_of(formats, name.text, indices.size())});
  };
  Assignment assignment = parse_assignment(statement, scope);
  Machine machine{Grid(Param("p"))};
  ConcreteStatement scheduled =
      schedule::apply_text(schedule, {scope, &machine}, concretize(assignment).value()).statement;
  return Leaf(scheduled, [](const notation::Access&) { return lower::IndexWidths{}; },
              {.outer = first_loops(scheduled, 1), .operands = lower::Operands::Pieces});
}

TEST(Pieces, ByRowsAssignEveryElementOfADenseResultWithoutZeroingItFirst) {
  EXPECT_FALSE(leaf_by_rows("a(i) = B(i,j) * c(j)", "B:ds", rows).kernel().zero_first);
  EXPECT_FALSE(leaf_by_rows("A(i,j) = B(i,k) * C(k,j)", "B:ds", "reorder(i,k,j); " + rows).kernel().zero_first);
  EXPECT_TRUE(leaf_by_rows("a(i) = B(i,j) * c(j)", "B:ds", matrix_positions).kernel().zero_first);
}

TEST(Pieces, ByRowsAppendASparseResult) {
  for (const std::string statement : {"A(i,j) = B(i,k) * C(k,j)", "A(i,j) = B(i,j) + C(i,j)"}) {
    Leaf leaf = leaf_by_rows(statement, "A:ds B:ds C:ds", rows);
    EXPECT_EQ(leaf.kernel().assembly, lower::Assembly::Appended) << statement;
  }
}

TEST(Pieces, KeepTheLiteralSizesOfLevelsThatAreNotCut) {
  Leaf leaf = leaf_by_rows("A(i,j) = B(i,k) * C(k,j)", "B:ds", "reorder(i,k,j); " + rows);
  std::vector<lower::LevelOfTensor> whole{{0, 1}, {2, 1}};  // j of A and of C
  for (const lower::LevelOfTensor& level : whole)
    EXPECT_NE(std::find(leaf.kernel().whole_levels.begin(), leaf.kernel().whole_levels.end(), level),
              leaf.kernel().whole_levels.end());
}

// ---- random programs ----------------------------------------------------------------------------------------------------

void check_random(int seed, const Caller& caller, std::map<lower::Assembly, int>& kinds) {
  std::mt19937_64 random{uint64_t(seed)};
  test::RandomProgram c = test::draw_program(random);
  ConcreteStatement statement = concretize(c.assignment).value();
  if (seed % 4 != 0) statement = test::draw_schedule(random, statement, 10).statement;
  std::vector<IndexVar> outer = first_loops(statement, 1 + size_t(seed) % 3);
  Printer names;
  std::string loops = names(statement), formats;
  for (const auto& [tensor, array] : c.arrays) formats += names.name(tensor) + ":" + tensor.format().str() + " ";
  for (const IndexVar& var : outer) formats += "; outer " + names.name(var);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "  " + formats + "\n" + loops);
  try {
    InPieces pieces(c.assignment, statement, outer, c.arrays, random, int64_t(1 + seed % 3));
    if (!pieces.can_be_cut()) return;
    pieces.check(caller);
    kinds[pieces.assembly]++;
  } catch (const std::exception& error) { FAIL() << error.what(); }
}

TEST(Pieces, AgreeWithTheDenseEvaluatorOnRandomProgramsThroughTheInterpreter) {
  int cases = std::getenv("FULL_TESTS") ? 50000 : 3000;
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = from;
  std::map<lower::Assembly, int> kinds;
  for (int seed = from; seed <= cases && !HasFailure(); seed++) check_random(seed, interpreted, kinds);
  for (auto kind :
       {lower::Assembly::Dense, lower::Assembly::Shared, lower::Assembly::Appended, lower::Assembly::Listed})
    if (from == 1 && !HasFailure()) { EXPECT_GT(kinds[kind], 50); }
}

}  // namespace
}  // namespace spdistal
