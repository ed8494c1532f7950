#include "codegen/numbers.hpp"

#include "base/require.hpp"
#include "ir/build.hpp"
#include "ir/fold.hpp"
#include "ir/interpret.hpp"

namespace spdistal::codegen {

using namespace ir;

namespace {

ir::Scalar value_of_literal(const Expr& e) {
  const ir::Scalar* value = constant(e);
  require(value != nullptr, "operations on numbers give numbers");
  return *value;
}

/// By the interpreter, which knows what functions mean.
ir::Scalar called(const Call& n) {
  FunctionBuilder f("call");
  Type type = type_of(n);
  Var out = f.array("out", 0, type.scalar, Access::Write);
  f.store(out, 0, Expr(n));
  alignas(16) std::byte memory[16] = {};
  spd_array array{memory, 1, nullptr};
  spd_call call{nullptr, nullptr, &array, nullptr, nullptr};
  interpret(f.build(), call);
  return with_type(type.scalar, [&](auto zero) { return ir::Scalar::of(*reinterpret_cast<decltype(zero)*>(memory)); });
}

}  // namespace

const ir::Scalar& Numbers::at(const Var& number) const {
  auto found = values_.find(number.symbol);
  require(found != values_.end(), "a number is known before it is used");
  return found->second;
}

ir::Scalar Numbers::operator()(const Expr& e) const {
  const Numbers& value = *this;
  auto unknown = [](std::string_view) -> ir::Scalar {
    require(false, "what lanes compute together is computed in grids");
    return {};
  };
  return match(
      e, [&](const Var& n) -> ir::Scalar { return at(n); }, [](const Literal& n) -> ir::Scalar { return n.value; },
      [&](const Unary& n) {
        return value_of_literal(fold(Unary{n.op, literal(value(n.a))}));
      },
      [&](const Binary& n) -> ir::Scalar {
        ir::Scalar a = value(n.a);
        if (n.op == BinaryOp::And || n.op == BinaryOp::Or)
          return a.as<bool>() == (n.op == BinaryOp::And) ? value(n.b) : a;
        return value_of_literal(fold(Binary{n.op, literal(a), literal(value(n.b))}));
      },
      [&](const Select& n) { return value(n.cond).as<bool>() ? value(n.yes) : value(n.no); },
      [&](const Load& n) { return element_(n.array, integer(n.index)); },
      [&](const Cast& n) {
        return value_of_literal(fold(Cast{n.type, literal(value(n.value))}));
      },
      [&](const Call& n) {
        std::vector<Expr> args;
        for (const Expr& a : n.args) args.push_back(literal(value(a)));
        return called(Call{n.function, args});
      },
      [&](const Search& n) { return search(n); }, [&](const Broadcast&) { return unknown("lanes"); },
      [&](const Shuffle&) { return unknown("lanes"); }, [&](const WarpReduce&) { return unknown("lanes"); },
      [&](const WarpScan&) { return unknown("lanes"); }, [&](const WarpVote&) { return unknown("lanes"); });
}

ir::Scalar Numbers::search(const Search& n) const {
  int64_t lo = integer(n.lo), hi = integer(n.hi);
  ir::Scalar sought = (*this)(n.value);
  auto before = [&](const ir::Scalar& element) {
    Expr a = literal(element), b = literal(sought);
    return value_of_literal(n.bound == Bound::Lower ? binary(BinaryOp::Lt, a, b)
                                                    : unary(UnaryOp::Not, binary(BinaryOp::Lt, b, a)))
        .as<bool>();
  };
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (before(element_(n.array, middle))) lo = middle + 1;
    else hi = middle;
  }
  return ir::Scalar::integer(type_of(n).scalar, lo);
}

}  // namespace spdistal::codegen
