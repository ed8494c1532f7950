// Tensors as pieces: dense levels that cover a part of their coordinates, loops around the kernel that are fixed to one
// turn, and what of the result the loops inside come to.
#include <fmt/format.h>

#include <algorithm>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

Expr Lowerer::number(const std::string& name, const RunTimeNumber& number) {
  std::vector<RunTimeNumber>& all = kernel_.scalars;
  auto known = std::find(all.begin(), all.end(), number);
  int place = int(known - all.begin());
  if (known == all.end()) all.push_back(number);
  return f_.scalar(name, place);
}

void Lowerer::inside_outer_loops(const std::function<void()>& fill) {
  for (const Root& root : provenance_.roots)
    if (provenance_.determined(root.var, options_.outer)) sweep({root.var});
  // One after the other, as their loops would: accesses go down before positions below them are counted.
  std::function<void(size_t)> nest = [&](size_t next) {
    if (next == options_.outer.size()) return fill();
    const IndexVar& var = options_.outer[next];
    Expr value = number(name(var), OuterValue{var});
    auto inside = [&] { bind({{var, value}}, [&] { nest(next + 1); }); };
    // Who calls the kernel knows only how many values there are at most.
    if (size_varies(var)) f_.when(value < size(var), inside);
    else inside();
  };
  if (options_.outer.empty()) bind({}, fill);
  else nest(0);
}

// Notes that loops visit values of these variables whatever is stored.
void Lowerer::sweep(const std::vector<IndexVar>& vars) {
  std::vector<IndexVar>& all = kernel_.swept;
  for (const IndexVar& var : vars)
    if (std::find(all.begin(), all.end(), var) == all.end()) all.push_back(var);
}

bool Lowerer::depends_on_outer(const IndexVar& var) const {
  return std::any_of(options_.outer.begin(), options_.outer.end(),
                     [&](const IndexVar& outer) { return provenance_.depends(var, outer); });
}

// May the loops around the kernel alone lead beyond a variable's size, so that there is nothing to do?
bool Lowerer::outer_may_lie_beyond() const {
  for (const Relation& relation : provenance_.relations)
    for (const Replaced& r : relation.replaced)
      if (r.guard == Guard::Checked && provenance_.determined(r.var, options_.outer)) return true;
  return std::any_of(options_.outer.begin(), options_.outer.end(),
                     [&](const IndexVar& var) { return size_varies(var); });
}

// Does the number of values of a variable change with those of others, as that of the positions of a row does?
bool Lowerer::size_varies(const IndexVar& var) const { return !provenance_.range_depends_on(var).empty(); }

// ---- dense levels -------------------------------------------------------------------------------------------------------

// Does the kernel come to every value of a variable, whatever the operands store?
bool Lowerer::visits_whole_range(const IndexVar& var) const {
  const Root* root = provenance_.root(var);
  if (!root || root->fixed || depends_on_outer(var)) return false;
  for (const Relation& relation : provenance_.relations)
    if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>())
      for (size_t level = stored->levels.first; level <= stored->levels.last; level++)
        if (stored->levels.var(level) == var) return false;
  bool whole = true;
  auto look = [&](const Access& access) {
    for (size_t level = 0; level < access.tensor.order(); level++)
      if (access.indices[size_t(access.tensor.format().mode_order()[level])] == var)
        whole &= stores_all(kernel_functions(access.tensor.format().levels()[level]));
  };
  each<Assign>(statement_.body, [&](const Assign& assign) {
    if (assign.lhs.tensor != lhs_.tensor) look(assign.lhs);
    each<Access>(assign.rhs, look);
  });
  return whole;
}

bool Lowerer::is_whole(int tensor, size_t level) {
  if (!on_pieces()) return true;
  const Access& of = access(tensor);
  if (!visits_whole_range(of.indices[size_t(of.tensor.format().mode_order()[level])])) return false;
  LevelOfTensor here{tensor, level};
  std::vector<LevelOfTensor>& all = kernel_.whole_levels;
  if (std::find(all.begin(), all.end(), here) == all.end()) all.push_back(here);
  return true;
}

Expr Lowerer::first_coordinate(int tensor, size_t level) {
  if (is_whole(tensor, level)) return ir::int64(0);
  return f_.number(fmt::format("{}{}_lo", tensor_name(tensor), level + 1), ir::Source::Field::Lo, tensor, int(level));
}

Expr Lowerer::stride(int tensor, size_t level) {
  if (is_whole(tensor, level)) return dense_size(tensor, level);
  return f_.number(fmt::format("{}{}_stride", tensor_name(tensor), level + 1), ir::Source::Field::Stride, tensor,
                   int(level));
}

Expr Lowerer::position_of(int tensor, size_t level, const Expr& parent, const Expr& coordinate) {
  return functions(tensor, level).place(level_of(tensor, level), parent, coordinate);
}

// The part of a range that all dense levels of a variable have places for: elsewhere nothing is stored.
Segment Lowerer::where_dense_levels_are(const IndexVar& var, Segment range) {
  if (!on_pieces()) return range;
  for (int t = 0; t <= int(states_.size()); t++)
    for (size_t level = 0; level < tensor_var(t).order(); level++) {
      const Format& format = tensor_var(t).format();
      if (access(t).indices[size_t(format.mode_order()[level])] != var || !stores_all(functions(t, level)) ||
          is_whole(t, level))
        continue;
      Expr first = first_coordinate(t, level);
      range = {ir::max(range.begin, first), ir::min(range.end, first + dense_size(t, level))};
    }
  return {f_.constant(name(var) + "_first", range.begin), f_.constant(name(var) + "_last", range.end)};
}

// ---- the result ---------------------------------------------------------------------------------------------------------

// The values of a variable that dense loops inside the kernel visit; none where they are not a range.
std::optional<Segment> Lowerer::covered(const IndexVar& var) {
  if (auto known = values_.find(var); known != values_.end()) return Segment{known->second, known->second + 1};
  if (!depends_on_outer(var)) return Segment{ir::int64(0), size(var)};
  const Relation* relation = provenance_.replaced_by(var);
  if (!relation || relation->replaced.size() != 1) return std::nullopt;
  for (const IndexVar& part : relation->needs()) {
    std::optional<Offset> offset = offset_of(relation->replaced[0].value, part);
    if (!offset) continue;
    std::vector<IndexVar> needs = relation->needs();
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == part || values_.contains(v); }))
      continue;
    std::optional<Segment> range = covered(part);
    if (!range) return std::nullopt;
    Expr start = offset->added ? index(*offset->added) : ir::int64(0), end = range->end + start;
    if (relation->replaced[0].guard == Guard::Checked) end = ir::min(end, size(var));
    return Segment{range->begin + start, end};
  }
  return std::nullopt;
}

// Do dense loops come to every element of the result's piece? None where that is not to be had.
std::optional<Expr> Lowerer::covers_result() {
  Expr all = ir::literal(ir::Scalar::of(true));
  for (size_t level = 0; level < lhs_.tensor.order(); level++) {
    const IndexVar& var = lhs_.indices[size_t(lhs_.tensor.format().mode_order()[level])];
    if (!depends_on_outer(var)) continue;
    std::optional<Segment> range = covered(var);
    if (!range) return std::nullopt;
    Expr first = first_coordinate(0, level);
    all = all && ir::equal(range->begin, first) && ir::equal(range->end, first + dense_size(0, level));
  }
  return all;
}

void Lowerer::zero_all() {
  std::function<void(size_t, const Expr&)> nest = [&](size_t level, const Expr& position) {
    if (level == lhs_.tensor.order()) return f_.store(vals_array(0), position, ir::zero(ir::value_of(result_type())));
    f_.loop("p", ir::int64(0), dense_size(0, level),
            [&](const Var& p) { nest(level + 1, level == 0 ? Expr(p) : position * stride(0, level) + p); });
  };
  nest(0, ir::int64(0));
}

}  // namespace spdistal::lower
