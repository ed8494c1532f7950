// One statement in pieces: the loops around its kernel are run one turn after the other; for each the operands are cut
// down to what its iterations touch, and what comes out is added up by coordinates and compared with the dense evaluator.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "level/kernel.hpp"
#include "notation/arithmetic.hpp"
#include "oracle/renumbered.hpp"
#include "oracle/walk.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/random_tensor.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

/// How kernels are called in a test.
using Caller = std::function<RunKernel(const Leaf&)>;

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
    for (const auto& [tensor, array] : arrays) whole_.emplace(tensor, to_storage(array, tensor.format()));
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
        // Positions come to places that are empty, and pieces are packed here of what is stored.
        for (size_t level = stored->levels.first; level <= stored->levels.last; level++)
          if (kernel_functions(format.levels()[level]).stored) return false;
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
    reference::DenseArray wanted = [&] {
      reference::Arrays all = arrays_;
      reference::evaluate(assignment_, all);
      return all.at(result);
    }();
    bool dense = assembly == lower::Assembly::Dense;
    reference::DenseArray sum(result.type(), wanted.dims);
    if (statement_.start == Start::Old) sum = arrays_.at(result);
    else
      std::fill(sum.values.begin(), sum.values.end(),
                convert(dense ? reduction_.second : result.fill(), result.type()));
    came_.clear();
    Storage in_place = to_storage(sum, in_place_format(result));

    RunKernel run = caller(leaf), run_adding = caller(adding);
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
        LeafCall inputs(leaf, pointers(), number);
        std::vector<Range> bounds = bounds_of(leaf.kernel(), walk, 0);
        Storage part = inputs.compute(bounds, context_, run);
        if (Result<> sound = verify(part); !sound) FAIL() << sound.refusal().str();
        expect_same_by_other_numbers(part, leaf, bounds, number, run);
        add(part, sum);
        if (!dense) return;
        // In place, as a part of a larger array: from nothing, and on top of what is there.
        Storage larger = to_storage(wanted, in_place_format(result));
        with_type(result.type(), [&](auto zero) {
          for (auto& value : larger.values<decltype(zero)>()) value = decltype(zero)(1);
        });
        Storage before = larger.clone();
        View view = part_of(larger, bounds);
        inputs.compute_into(view, context_, run);
        expect_part(larger, before, part);
        View total = part_of(in_place, bounds);
        LeafCall adding_inputs(adding, pointers(), number);
        adding_inputs.compute_into(total, context_, run_adding);
      } catch (const std::exception& error) { FAIL() << error.what(); }
    });
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(sum == wanted);
    if (dense) { ASSERT_TRUE(to_array(in_place) == wanted); }
  }

  lower::Assembly assembly = lower::Assembly::Dense;
  int numbered = 0;  // turns of which coordinates had other numbers

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

  void cut(const lower::Lowered& kernel, Walk& walk) {
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
      std::set<int64_t> stored;  // of places that levels have, some are empty
      for_each_position(whole.pattern(), [&](std::span<const int64_t>, int64_t position) { stored.insert(position); });
      for (const Stored& s : all) {
        std::vector<int64_t> at(format.order());
        bool keep = format.order() == 0 || stored.contains(s.positions.back());
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

  // Does a loop over a variable come to other coordinates than those of its own?
  static bool has_window(const lower::Lowered& kernel, const IndexVar& var) {
    return std::any_of(kernel.operands.begin(), kernel.operands.end(), [&](const notation::Access& access) {
      return std::any_of(access.indices.begin(), access.indices.end(),
                         [&](const IndexVar& index) { return index.window() && index.window()->of == var; });
    });
  }

  // What the dense levels of a piece have to cover, dimension by dimension, and sometimes more.
  std::vector<Range> bounds_of(const lower::Lowered& kernel, Walk& walk, int tensor) {
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
      if (!swept && stored_coordinates_[var] && !has_window(kernel, var)) hull = stored_coordinates_[var];
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

  std::vector<SeenPiece> pointers() const {
    std::vector<SeenPiece> out;
    for (const Storage& piece : pieces_) out.push_back({&piece});
    return out;
  }

  // Where the kernel uses coordinates only to find places.
  void expect_same_by_other_numbers(const Storage& part, const Leaf& leaf, const std::vector<Range>& bounds,
                                    const LeafCall::NumberOf& number, const RunKernel& run) {
    Renumbered renumbered(leaf.kernel(), pieces_, random_);
    if (!renumbered.any()) return;
    numbered++;
    Storage same = LeafCall(leaf, renumbered.pieces(), number).compute(bounds, context_, run);
    ASSERT_TRUE(same_pattern(same.pattern(), part.pattern())) << "numbers lead to another pattern";
    with_type(part.type(), [&](auto zero) {
      using T = decltype(zero);
      std::span<const T> a = part.values<T>(), b = same.values<T>();
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << "numbers lead to other values";
    });
  }

  int64_t number_of(const lower::Lowered& kernel, Walk& walk, const lower::RunTimeNumber& number) const {
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
    if (auto* left = std::get_if<lower::BlocksLeft>(&number)) return left_of(walk, *left);
    if (auto* block = std::get_if<lower::PositionsOfBlock>(&number)) return end_of(walk, *block);
    return parts_;
  }
  int64_t end_of(Walk& walk, const lower::PositionsOfBlock& asked) const {
    for (const Relation& relation : statement_.provenance.relations)
      if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>())
        if (const auto& block = stored->levels.block; block && block->part == asked.part)
          return walk.positions_before(
              stored->levels, asked.which == lower::PositionsOfBlock::Which::Begin ? block->first : block->end);
    return 0;
  }
  int64_t left_of(Walk& walk, const lower::BlocksLeft& left) const {
    const BlockStart& block = *statement_.provenance.replaced_by(left.var)->block();
    Range numbers = walk.touched[block.number.as<ValueOf>()->var].value_or(Range{0, 0});
    using Which = lower::BlocksLeft::Which;
    bool first = left.which == Which::FirstBlock || left.which == Which::FirstValue;
    int64_t at = first ? numbers.lo : numbers.hi;
    bool counted = left.which == Which::FirstBlock || left.which == Which::EndBlock;
    return counted ? at : walk.cut(block.blocks, at);
  }

  // ---- results ----

  // The operation by which values come to the result, and what it gives of none; they are added where each comes once.
  static std::pair<AssignOp, Scalar> reduction_of(const ConcreteStatement& statement) {
    std::pair<AssignOp, Scalar> out{AssignOp::Add, zero(statement.result.type())};
    each<Assign>(statement.body, [&](const Assign& a) {
      if (a.lhs.tensor == statement.result && a.op != AssignOp::Set)
        out = {a.op, identity(a.op, reduced_type(a.op, type_of(a.rhs)))};
    });
    return out;
  }
  // What comes to a place of a sparse result for the first time takes that of what was not there.
  void add(const Storage& part, reference::DenseArray& sum) {
    AssignOp op = reduction_.first;
    bool sparse = assembly != lower::Assembly::Dense && statement_.start != Start::Old;
    with_type(part.type(), [&](auto zero) {
      for_each<decltype(zero)>(part, [&](std::span<const int64_t> at, auto value) {
        Scalar& element = sum.at({at.begin(), at.end()});
        bool first = sparse && came_.emplace(at.begin(), at.end()).second;
        element = notation::convert(first ? Scalar(value) : notation::compute(op, element, Scalar(value)), sum.type);
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
    reference::DenseArray wanted = to_array(before);
    with_type(part.type(), [&](auto zero) {
      for_each<decltype(zero)>(part, [&](std::span<const int64_t> at, auto value) {
        wanted.at({at.begin(), at.end()}) = Scalar(value);
      });
    });
    ASSERT_TRUE(to_array(larger) == wanted) << "as a part of a larger array";
  }

  const Assignment& assignment_;
  const ConcreteStatement& statement_;
  std::pair<AssignOp, Scalar> reduction_ = reduction_of(statement_);
  std::vector<IndexVar> outer_;
  const reference::Arrays& arrays_;
  std::mt19937_64& random_;
  int64_t parts_;  // the number of parts where it is not known when compiling
  runtime::HostContext context_;
  std::map<TensorVar, Storage> whole_;
  Storages storages_;
  std::vector<Storage> pieces_;
  std::map<IndexVar, std::optional<Range>> stored_coordinates_;  // at sparse levels of the pieces
  std::set<std::vector<int64_t>> came_;                          // elements of a sparse result
};

inline RunKernel interpreted(const Leaf& leaf) {
  return [interpret = ir::Interpreter(leaf.function(), ir::Races::Found)](spd_call& call) { interpret(call); };
}

inline std::vector<IndexVar> first_loops(const ConcreteStatement& statement, size_t count) {
  std::vector<IndexVar> out;
  for (const Forall& loop : outer_loops(statement.body))
    if (out.size() < count) out.push_back(loop.var);
  return out;
}

}  // namespace spdistal::test
