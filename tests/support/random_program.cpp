#include "support/random_program.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "compile/choose.hpp"
#include "notation/parse.hpp"
#include "notation/presence.hpp"
#include "support/formats.hpp"
#include "support/program_case.hpp"
#include "support/random_number.hpp"
#include "support/random_statement.hpp"
#include "support/random_tensor.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

std::vector<notation::Access> accesses_of(const Assignment& assignment) {
  std::vector<notation::Access> out{assignment.lhs};
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) { out.push_back(access); });
  return out;
}

// The statement with tensors of its own types, formats and sizes in place of those it was read with.
using Declare = std::function<TensorVar(const std::string& name, size_t order)>;
Assignment read(const std::string& text, const Declare& declare) {
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    return declare(std::string(name.text), indices.size());
  };
  return parse_assignment(text, scope);
}

// A size for every variable; those that index one dimension of a tensor as it is have the same. Windows of a dimension lie
// inside of it.
class Sizes {
 public:
  Sizes(std::mt19937_64& random, const Assignment& assignment) {
    for (const IndexVar& var : variables(assignment)) group_.emplace(var, var);
    std::map<std::pair<std::string, size_t>, IndexVar> first;
    for (const notation::Access& access : accesses_of(assignment))
      for (size_t d = 0; d < access.indices.size(); d++)
        if (const IndexVar& var = access.indices[d]; !var.window())
          unite(var, first.try_emplace({access.tensor.symbol().name(), d}, var).first->second);
    for (const IndexVar& index : windows(assignment))
      if (index.window()->end) sizes_[find(*index.window()->of)] = index.window()->count(*index.window()->end);
    for (const auto& [var, other] : group_) {
      IndexVar leader = find(var);
      if (!sizes_.contains(leader)) sizes_[leader] = draw(random);
    }
    // Small enough to be evaluated element by element.
    for (int64_t most : {4, 3, 2, 1})
      if (work() > 1500)
        for (auto& [var, size] : sizes_) size = std::min(size, most);
  }

  int64_t of(const IndexVar& var) const { return sizes_.at(find(var)); }

  /// The size of a dimension that has room for an index.
  int64_t room(const IndexVar& index) const {
    const Window* window = index.window();
    if (!window) return of(index);
    if (window->end) return *window->end;
    int64_t count = window->of ? of(*window->of) : 1;
    return count == 0 ? 0 : window->offset + window->stride * (count - 1) + 1;
  }

 private:
  static int64_t draw(std::mt19937_64& random) {
    switch (weighted(random, {4, 8, 88})) {
      case 0: return 0;
      case 1: return 1;
      default: return number(random, 2, 5);
    }
  }
  IndexVar find(IndexVar var) const {
    while (group_.at(var) != var) var = group_.at(var);
    return var;
  }
  void unite(const IndexVar& a, const IndexVar& b) {
    IndexVar x = find(a), y = find(b);
    if (x != y) group_.insert_or_assign(x, y);
  }
  int64_t work() const {
    int64_t out = 1;
    for (const auto& [var, other] : group_) out *= std::max<int64_t>(of(var), 1);
    return out;
  }

  std::map<IndexVar, IndexVar> group_;
  std::map<IndexVar, int64_t> sizes_;
};

// Mostly doubles; sometimes one other type for all, or a mix.
class Types {
 public:
  explicit Types(std::mt19937_64& random)
      : random_(random), kind_(weighted(random, {50, 20, 30})), common_(pick(random, all_scalar_types)) {}
  ScalarType draw() {
    if (kind_ == 0) return ScalarType::Float64;
    return kind_ == 1 ? common_ : pick(random_, all_scalar_types);
  }
  // One that holds the value; sometimes a wider one.
  ScalarType of_result(ScalarType value) {
    if (kind_ == 1 && common_ == ScalarType::Bool) return ScalarType::Bool;
    return kind_ == 2 && one_in(random_, 3) ? promote(value, ScalarType::Float64) : value;
  }

 private:
  std::mt19937_64& random_;
  size_t kind_;
  ScalarType common_;
};

bool divides(const Assignment& assignment) {
  bool found = false;
  each<Binary>(assignment.rhs, [&](const Binary& n) { found |= n.op == BinaryOp::Div; });
  return found;
}

bool reads_result(const Assignment& assignment) {
  bool reads = assignment.op != AssignOp::Set;
  each<notation::Access>(assignment.rhs,
                         [&](const notation::Access& access) { reads |= access.tensor == assignment.lhs.tensor; });
  return reads;
}

// Quotients are exact where all are powers of two, and defined where no whole number comes of one that is none.
bool may_divide(const std::set<ScalarType>& types) {
  return std::none_of(types.begin(), types.end(), is_complex) &&
         (std::all_of(types.begin(), types.end(), is_integral) ||
          std::none_of(types.begin(), types.end(), is_integral));
}

bool are_reals(const std::set<ScalarType>& types) {
  return std::all_of(types.begin(), types.end(),
                     [](ScalarType t) { return t == ScalarType::Float32 || t == ScalarType::Float64; });
}

// Does anything but arithmetic happen: does it matter what is less?
bool compares(const Assignment& assignment) {
  auto ordered = [](AssignOp op) { return op != AssignOp::Set && op != AssignOp::Add; };
  bool found = ordered(assignment.op);
  each<Call>(assignment.rhs, [&](const Call& n) { found |= n.function >= notation::Function::Floor; });
  each<Binary>(assignment.rhs, [&](const Binary& n) { found |= is_comparison(n.op) || is_logical(n.op); });
  each<Reduction>(assignment.rhs, [&](const Reduction& n) { found |= ordered(n.op); });
  return found;
}

bool multiplies_up(const Assignment& assignment) {
  bool found = assignment.op == AssignOp::Mul;
  each<Reduction>(assignment.rhs, [&](const Reduction& n) { found |= n.op == AssignOp::Mul; });
  return found;
}

// May what is not stored be infinite? Sums of infinities are, or no number: no operation makes something else of them.
bool may_be_infinite(const Assignment& assignment) {
  bool may = !multiplies_up(assignment);
  each<Binary>(assignment.rhs, [&](const Binary& n) {
    may &= n.op == BinaryOp::Add || n.op == BinaryOp::Sub || is_comparison(n.op) || is_logical(n.op);
  });
  return may;
}

// Formats that store what occurs and nothing else may have any fill value; most have none.
void draw_fills(std::mt19937_64& random, const Assignment& assignment, std::map<std::string, Format>& formats) {
  if (!one_in(random, 3)) return;
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> some = {1, -1, 2};
  if (may_be_infinite(assignment))
    for (double value : {infinity, -infinity})
      if (one_in(random, 2)) some.push_back(value);
  double common = pick(random, some);
  for (auto& [name, format] : formats) try {
      if (one_in(random, 3)) continue;
      format = format.filled(one_in(random, 4) ? pick(random, some) : common);
    } catch (const UserError&) {}  // it has places for what is not stored
}

// The values of a program's tensors.
class Values {
 public:
  Values(std::mt19937_64& random, const Assignment& assignment)
      : random_(random), powers_(divides(assignment) || multiplies_up(assignment)) {
    std::set<ScalarType> types;
    for (const TensorVar& tensor : tensors(assignment)) types.insert(tensor.type());
    // The order of a comparison with what is no number is not defined.
    beyond_ = are_reals(types) && !compares(assignment) && one_in(random, 12);
  }

  reference::DenseArray draw(const TensorVar& tensor, const std::vector<int64_t>& dims) {
    reference::DenseArray out(tensor.fill(), dims);
    bool sparse = !tensor.format().is_dense();
    int64_t stored = sparse ? number(random_, 1, 4) : 1, of_sparse = one_in(random_, 20) ? 0 : 1;
    if (sparse) out.absent.assign(out.values.size(), true);
    for (size_t k = 0; k < out.values.size(); k++) {
      if (sparse && (of_sparse == 0 || !one_in(random_, stored))) continue;
      Scalar value = notation::convert(this->value(), tensor.type());
      // What would count as the same is stored now and then.
      if (sparse && notation::same_number(value, tensor.fill()) && !one_in(random_, 2)) continue;
      out.values[k] = value;
      if (sparse) out.absent[k] = false;
    }
    return out;
  }

 private:
  Scalar value() {
    static const std::vector<double> powers = {1, -1, 2, -2, 4, 1, 0}, odd = {std::numeric_limits<double>::infinity(),
                                                                              -std::numeric_limits<double>::infinity(),
                                                                              std::numeric_limits<double>::quiet_NaN()};
    if (beyond_ && one_in(random_, 8)) return pick(random_, odd);
    return powers_ ? pick(random_, powers) : double(number(random_, -3, 3));
  }

  std::mt19937_64& random_;
  bool powers_, beyond_;
};

// Tensors of blocks, as far as their sizes allow: half of those that can be.
void draw_blocks(std::mt19937_64& random, const std::map<std::string, std::vector<int64_t>>& dims,
                 std::map<std::string, Format>& formats) {
  std::mt19937_64 apart = random;  // other programs stay what they were
  apart.discard(10);
  for (auto& [name, format] : formats)
    if (may_be_blocks(dims.at(name)) && one_in(apart, 2)) format = in_blocks(format, dims.at(name));
}

void fill_result(Format& format, const Expr& value) {
  try {
    if (std::optional<Scalar> fill = fill_of(value)) format = format.filled(*fill);
  } catch (const UserError&) {}  // it has places for what is not stored
}

std::optional<RandomProgram> try_program(std::mt19937_64& random, const std::string& text) {
  Types draw_type(random);
  std::map<std::string, ScalarType> types;
  std::map<std::string, Format> formats;
  bool dense = one_in(random, 10);
  Assignment untyped = read(text, [&](const std::string& name, size_t order) {
    types.emplace(name, draw_type.draw());
    formats.emplace(name, dense ? dense_format(order) : draw_format(random, order));
    return TensorVar({Symbol(name), types.at(name), std::vector<Extent>(order, Extent(1)), formats.at(name)});
  });
  draw_fills(random, untyped, formats);
  Sizes sizes(random, untyped);
  std::map<std::string, std::vector<int64_t>> dims;
  for (const notation::Access& access : accesses_of(untyped)) {
    std::vector<int64_t>& of =
        dims.try_emplace(access.tensor.symbol().name(), std::vector<int64_t>(access.indices.size(), 0)).first->second;
    for (size_t d = 0; d < of.size(); d++) of[d] = std::max(of[d], sizes.room(access.indices[d]));
  }
  for (const notation::Access& access : accesses_of(untyped))
    for (size_t d = 0; d < access.indices.size(); d++)
      if (access.indices[d].window() && one_in(random, 4)) dims.at(access.tensor.symbol().name())[d]++;
  draw_blocks(random, dims, formats);
  std::string result = untyped.lhs.tensor.symbol().name();
  ScalarType value = type_of(untyped.rhs);
  types[result] = draw_type.of_result(untyped.op == AssignOp::Set ? value : promote(value, types.at(result)));
  if (untyped.op == AssignOp::Or || untyped.op == AssignOp::And) types[result] = ScalarType::Bool;
  std::set<ScalarType> all;
  for (const auto& [name, type] : types) all.insert(type);
  // Products of many whole numbers would be too large.
  if (multiplies_up(untyped) && !are_reals(all)) return {};
  // Quotients of what a run left are not exact the next time.
  if (divides(untyped) && (!may_divide(all) || reads_result(untyped))) return {};

  auto declared = [&](const std::string& name, size_t order) {
    std::vector<Extent> extents;
    for (size_t d = 0; d < order; d++) {
      Param size;
      size = dims.at(name)[d];
      extents.push_back(one_in(random, 2) ? Extent(dims.at(name)[d]) : Extent(size));
    }
    return TensorVar({Symbol(name), types.at(name), extents, formats.at(name)});
  };
  auto accepted = [&]() -> std::optional<Assignment> {
    try {
      Assignment drawn = read(text, declared);
      make_statement(drawn);
      return drawn;
    } catch (const UserError&) { return {}; }
  };
  std::optional<Assignment> drawn = accepted();
  if (!drawn) {  // what is something else where nothing is stored wants another fill value,
    fill_result(formats.at(result), read(text, declared).rhs);
    drawn = accepted();
  }
  if (!drawn) {  // or a dense result
    formats.insert_or_assign(result, dense_format(dims.at(result).size()));
    drawn = accepted();
  }
  if (!drawn) return {};
  RandomProgram out{*drawn, {}};
  Values values(random, *drawn);
  // Formats with places for what does not occur store that, too.
  for (const TensorVar& tensor : tensors(*drawn)) {
    reference::DenseArray array = values.draw(tensor, dims.at(tensor.symbol().name()));
    out.arrays.emplace(tensor, to_array(to_storage(array, tensor.format())));
  }
  return out;
}

}  // namespace

RandomProgram draw_program(std::mt19937_64& random, const Features& without) {
  while (true) try {
      std::optional<RandomProgram> program = try_program(random, draw_statement(random));
      if (!program) continue;
      if (without.empty()) return *program;
      ConcreteStatement loops = make_statement(program->assignment).scheduled;
      if (!has_any(write_down(program->assignment, program->arrays, loops, {}), without)) return *program;
    } catch (const UserError&) {}  // no statement: another draw
}

RandomProgram draw_finite_program(std::mt19937_64& random) {
  Features without = open_faults();
  without.insert({"inf", "nan", "division"});
  return draw_program(random, without);
}

}  // namespace spdistal::test
