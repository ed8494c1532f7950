// Whether a program from text computes what its statement says: compared with an independent evaluation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "api/session.hpp"
#include "format/fill.hpp"
#include "notation/arithmetic.hpp"
#include "notation/check.hpp"
#include "program/program_state.hpp"
#include "reference/evaluate.hpp"
#include "reference/join.hpp"
#include "tensor/distribute.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;
using reference::Complex;

namespace {

reference::EntryList entries_of(const Storage& storage) {
  reference::EntryList out{storage.dims()};
  out.coordinates.reserve(size_t(storage.nnz()) * storage.order());
  out.values.reserve(size_t(storage.nnz()));
  for_each_position(storage.pattern(), [&](std::span<const int64_t> at, int64_t position) {
    out.coordinates.insert(out.coordinates.end(), at.begin(), at.end());
    out.values.push_back(as_complex(storage, position));
  });
  return out;
}

reference::DenseArray array_of(const Storage& storage) {
  reference::DenseArray out(fill_value(storage.format(), storage.type()), storage.dims());
  out.absent.assign(out.values.size(), true);
  with_type(storage.type(), [&](auto zero) {
    for_each<decltype(zero)>(storage, [&](std::span<const int64_t> at, auto value) {
      size_t position = out.position({at.begin(), at.end()});
      out.values[position] = Scalar(value);
      out.absent[position] = false;
    });
  });
  return out;
}

Complex as_complex(const Scalar& value) {
  return std::get<Complex>(static_cast<const ScalarVariant&>(notation::convert(value, ScalarType::Complex128)));
}

// Compares elements of the result, slice by slice of its first dimension.
class Judge {
 public:
  Judge(const Storage& result, ScalarType value_type)
      : type_(result.type()),
        rounds_(is_integral(type_) && !is_integral(value_type)),
        fill_(as_complex(fill_value(result.format(), result.type()))),
        found_(entries_of(result)) {
    order_.resize(found_.size());
    std::iota(order_.begin(), order_.end(), size_t(0));
    auto before = [&](size_t a, size_t b) { return first_of(a) < first_of(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) std::stable_sort(order_.begin(), order_.end(), before);
  }

  /// Slices come in ascending order; those that were left out are zero.
  void slice(int64_t first, reference::JudgedElements& wanted) {
    zeros_until(first);
    for (; next_ < order_.size() && first_of(order_[next_]) == first; next_++) {
      size_t n = order_[next_];
      reference::Judged* there = wanted.find(found_.at(n));
      compare(found_.values[n], there ? *there : reference::Judged{});
      if (there) *there = {fill_, 0};
    }
    // What is not stored is the fill value.
    for (size_t n = 0; n < wanted.size(); n++)
      if (wanted.value(n).value != fill_) compare(fill_, wanted.value(n));
  }
  void finish() { zeros_until(std::numeric_limits<int64_t>::max()); }

  double difference() const { return difference_; }
  /// Of all that was added up for one element.
  double magnitude() const { return magnitude_; }

 private:
  int64_t first_of(size_t n) const { return found_.dims.empty() ? 0 : found_.at(n)[0]; }

  void zeros_until(int64_t first) {
    for (; next_ < order_.size() && first_of(order_[next_]) < first; next_++) compare(found_.values[order_[next_]], {});
  }

  Complex held(const Complex& value) const { return as_complex(notation::convert(value, type_)); }

  // A real number that misses a whole one by a rounding error may have become it.
  bool may_have_become(const Complex& found, const reference::Judged& wanted) const {
    constexpr double rounding = 1e-12;
    double whole = std::round(wanted.value.real());
    return rounds_ && std::abs(wanted.value.real() - whole) <= wanted.magnitude * rounding && found == held(whole);
  }

  // The reference rounds as the result's type does.
  void compare(const Complex& found, const reference::Judged& wanted) {
    magnitude_ = std::max(magnitude_, wanted.magnitude);
    Complex rounded = held(wanted.value);
    bool both_nan = std::isnan(found.real()) && std::isnan(rounded.real());
    if (found == rounded || both_nan || may_have_become(found, wanted)) return;
    double difference = std::abs(found - rounded) / wanted.magnitude;
    difference_ = std::max(difference_, std::isfinite(difference) ? difference : 1.0);
  }

  ScalarType type_;
  bool rounds_;   // to whole numbers, what is none before
  Complex fill_;  // what is not stored
  reference::EntryList found_;
  std::vector<size_t> order_;  // of what was found, by first coordinate
  size_t next_ = 0;
  double difference_ = 0, magnitude_ = 0;
};

}  // namespace

Complex as_complex(const Storage& storage, int64_t position) {
  return with_type(storage.type(),
                   [&](auto zero) { return as_complex(Scalar(storage.values<decltype(zero)>()[size_t(position)])); });
}

Comparison Program::compare() {
  Assignment assignment = state_->statement->assignment;
  if (assignment.op != AssignOp::Set) {
    Expr value = assignment.op == AssignOp::Add ? assignment.rhs : with_reductions(assignment).rhs;
    assignment = {assignment.lhs, AssignOp::Set, combined(assignment.op, assignment.lhs, value)};
  }
  TensorState& result = state_->result();
  bool single = result.var.type() == ScalarType::Float32 || result.var.type() == ScalarType::Complex64;
  Comparison out{0, single ? 1e-4 : 1e-10};

  // The result stands for what it held before.
  std::optional<Storage> before;
  if (state_->before) before = pack(gather(Session::instance().transport(), *state_->before), result.var.format());
  else before = pack(Coordinates(whole_of(result).dims(), result.var.type()), result.var.format());
  auto storage_of = [&](TensorState& tensor) -> const Storage& {
    return tensor.var == result.var ? *before : whole_of(tensor);
  };

  ScalarType value_type = type_of(assignment.rhs);
  Judge judge(whole_of(result), value_type);
  reference::EntryTable table;
  for (const auto& tensor : state_->tensors) table.emplace(tensor->var, entries_of(storage_of(*tensor)));
  bool joined = reference::evaluate_by_joins(
      assignment, table, [&](int64_t first, reference::JudgedElements& wanted) { judge.slice(first, wanted); });
  judge.finish();
  // Whole numbers may have wrapped around where they could have been larger than this.
  constexpr double exact = 2147483648.0;
  if (joined && (!is_integral(value_type) || judge.magnitude() < exact)) {
    out.difference = judge.difference();
    return out;
  }

  double work = 1;
  for (const auto& [var, extent] : infer_extents(assignment).value()) work *= double(*extent.value());
  if (work > 5e7)
    throw UserError("the statement is too large to be checked element by element",
                    "statements of sums and products are checked at any size");
  reference::Arrays arrays;
  for (const auto& tensor : state_->tensors) arrays.emplace(tensor->var, array_of(storage_of(*tensor)));
  reference::evaluate(assignment, arrays);
  const reference::DenseArray& expected = arrays.at(result.var);
  Judge dense(whole_of(result), result.var.type());
  reference::JudgedElements wanted(expected.dims.size());
  Storage all = pack(Coordinates(expected.dims, result.var.type()), dense_format(expected.dims.size()));
  std::optional<int64_t> first;
  auto hand_over = [&] {
    if (first) dense.slice(*first, wanted);
    wanted.clear();
  };
  for_each_position(all.pattern(), [&](std::span<const int64_t> at, int64_t position) {
    int64_t here = at.empty() ? 0 : at[0];
    if (first && *first != here) hand_over();
    first = here;
    Complex value = as_complex(expected.values[size_t(position)]);
    wanted[at] = {value, std::abs(value)};
  });
  hand_over();
  dense.finish();
  out.difference = dense.difference();
  return out;
}

}  // namespace spdistal
