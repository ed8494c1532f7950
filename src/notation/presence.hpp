// Where an expression has a value of its own, and what it is elsewhere: the question behind walking only what is stored. The
// rules are those of `element.hpp`, for all elements at once.
//
// The answer is found in any algebra of sets, a type with
//
//   never(), always()     no place, every place
//   both(a, b)            the places of a that are places of b
//   either(a, b)          the places of a and those of b
//   access(n)             what is stored of an access, or may be
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/element.hpp"

namespace spdistal::notation {

/// Sets of which it matters only whether they are empty, or everything: what an access stores is left to say.
struct TruthSets {
  bool never() const { return false; }
  bool always() const { return true; }
  bool both(bool a, bool b) const { return a && b; }
  bool either(bool a, bool b) const { return a || b; }
};

template <class Set>
struct Presence {
  Set where;                   // the expression has values of its own nowhere else
  std::optional<Scalar> fill;  // what it is elsewhere; none: it is not the same everywhere else, and `where` is always
};

template <class Sets>
class PresenceOf {
 public:
  using Set = decltype(std::declval<Sets&>().never());
  explicit PresenceOf(Sets& sets) : sets_(sets) {}

  Presence<Set> operator()(const Expr& expr) const {
    return match(
        expr,
        [&](const Access& n) {
          return Presence<Set>{sets_.access(n), n.tensor.fill()};
        },
        [&](const Literal& n) {
          return Presence<Set>{sets_.never(), n.value};
        },
        [&](const Argument&) { return everywhere(); },
        [&](const Neg& n) {
          Presence<Set> a = (*this)(n.a);
          if (a.fill) a.fill = negate(*a.fill);
          return a;
        },
        [&](const Binary& n) { return of_binary(n, type_of(expr)); },
        [&](const Call& n) { return of_call(n, type_of(expr)); },
        [&](const Reduction& n) {
          Presence<Set> body = (*this)(n.body);
          Scalar nothing = identity(n.op, type_of(expr));
          bool left_out = body.fill && same_number(convert(*body.fill, nothing.type()), nothing);
          if (!left_out) return everywhere();
          return Presence<Set>{body.where, nothing};
        });
  }

  /// Where a value is other than this one, or may be.
  Set other_than(const Expr& expr, const Scalar& value) const {
    Presence<Set> all = (*this)(expr);
    bool same = all.fill && same_number(convert(*all.fill, value.type()), value);
    return same ? all.where : sets_.always();
  }

 private:
  using Presences = std::vector<Presence<Set>>;

  Presence<Set> everywhere() const { return {sets_.always(), std::nullopt}; }

  Presence<Set> of_binary(const Binary& n, ScalarType type) const {
    Presences parts{(*this)(n.a), (*this)(n.b)};
    auto swallowed = [&](size_t k) -> std::optional<Scalar> {
      if (!parts[k].fill) return std::nullopt;
      return swallows(n.op, k == 0 ? Side::Left : Side::Right, *parts[k].fill, type);
    };
    return combined(parts, swallowed, [&] { return compute(n.op, *parts[0].fill, *parts[1].fill); });
  }

  Presence<Set> of_call(const Call& n, ScalarType type) const {
    Presences parts;
    for (const Expr& arg : n.args) parts.push_back((*this)(arg));
    if (n.domain == Domain::Stored) {
      if (parts[0].fill) parts[0].fill = convert(*parts[0].fill, type);
      return parts[0];
    }
    if (n.function == Function::Select) return of_select(parts, type);
    auto swallowed = [&](size_t k) -> std::optional<Scalar> {
      return parts[k].fill ? swallows(n.function, *parts[k].fill, type) : std::nullopt;
    };
    return combined(parts, swallowed, [&] {
      std::vector<Scalar> values;
      for (const Presence<Set>& part : parts) values.push_back(*part.fill);
      return compute(n.function, values);
    });
  }

  Presence<Set> of_select(const Presences& parts, ScalarType type) const {
    if (!parts[0].fill) return everywhere();
    const Presence<Set>& chosen = parts[truth(*parts[0].fill) ? 1 : 2];
    if (!chosen.fill) return everywhere();
    return {sets_.either(parts[0].where, chosen.where), convert(*chosen.fill, type)};
  }

  // Where one part swallows the others nothing is left without it; otherwise any part is enough.
  template <class Swallowed, class Value>
  Presence<Set> combined(const Presences& parts, const Swallowed& swallowed, const Value& value) const {
    std::optional<Presence<Set>> out;
    for (size_t k = 0; k < parts.size(); k++) {
      std::optional<Scalar> all = swallowed(k);
      if (!all) continue;
      // inf - inf: it depends on which of the two is there.
      if (out && !same_number(*out->fill, *all)) return everywhere();
      out = {out ? sets_.both(out->where, parts[k].where) : parts[k].where, all};
    }
    if (out) return *out;
    Set any = sets_.never();
    for (const Presence<Set>& part : parts) {
      if (!part.fill) return everywhere();
      any = sets_.either(any, part.where);
    }
    return {any, value()};
  }

  Sets& sets_;
};

/// What an expression is where nothing of its tensors is stored; none: it is not the same everywhere there.
std::optional<Scalar> fill_of(const Expr& expr);
/// Is it that, whatever its tensors hold: has it no value of its own anywhere?
std::optional<Scalar> constant_of(const Expr& expr);
/// Need an operand that is not there and swallows whatever it meets be told apart from a value that just looks like it? Not
/// where both give the same: of whole numbers and truth values, and beside a finite number.
bool tells_absent_apart(ScalarType type, const std::vector<Expr>& operands);
bool tells_absent_apart(ScalarType type, const Binary& n);
/// The tensors of which nothing has to be told from a zero, since what they are part of is divided by what may be zero, or
/// multiplied with such a quotient.
std::set<TensorVar> told_from_zeros(const Expr& expr);
/// What an assignment of this value leaves as it was.
Scalar neutral_of(const Assign& assign);
/// The operation by which values that come to one element of the result are put together; they are added where each comes
/// once.
AssignOp operation_of(const ConcreteStatement& statement);
/// What places of the result hold that no value has come to, where it begins anew: the identity of the operation.
Scalar background_of(const ConcreteStatement& statement);

}  // namespace spdistal::notation
