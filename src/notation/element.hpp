// An element of an expression: its value, and whether it is there at all.
//
// What a tensor does not store counts as the tensor's fill value, for good; numbers of the text are what they are
// everywhere, and count as not stored, too. What is computed from such elements alone is not there either, and some of them
// swallow whatever they meet, be it infinite or no number:
//
//   0 as a factor or divided      0 * x, x * 0, 0 / x                          is 0
//   ±inf in a sum of reals        inf + x, x + inf, inf - x, x - inf           is ±inf
//   the least in a minimum        min(-inf, x); max(inf, x)                    is -inf; inf
//   false in an and               false & x; true | x                          is false; true
//   a condition                   select(false, x, y); select(true, x, y)      is y; x
//
// Where both sides of a sum are infinite without their tensors, of two signs, neither swallows anything: inf - inf is no
// number. map(x, f) is x where x is not there, whatever f makes of it. A least or largest value that comes to an infinity
// as one of nothing does is not there.
#pragma once
#include "notation/arithmetic.hpp"

namespace spdistal::notation {

bool is_infinite(const Scalar& value);

struct EvaluatedElement {
  Scalar value;
  bool absent = false;
};

/// What an operation gives, whatever the other operand is, where the one on this side is not there and has this value;
/// none: that depends.
enum class Side : uint8_t { Left, Right };
std::optional<Scalar> swallows(BinaryOp op, Side side, const Scalar& value, ScalarType type);
std::optional<Scalar> swallows(Function function, const Scalar& value, ScalarType type);

inline EvaluatedElement element_of(const Literal& literal) { return {literal.value, true}; }
inline EvaluatedElement negate(const EvaluatedElement& a) { return {negate(a.value), a.absent}; }
/// Of elements of operands that do not cancel each other.
EvaluatedElement compute(BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b);
EvaluatedElement compute(Function function, Domain domain, const std::vector<EvaluatedElement>& args);
/// An expression where its tensors store nothing; arguments are any number there.
EvaluatedElement at_nothing(const Expr& expr);
/// Are the sides of a sum infinities of two signs there?
bool cancels(const Binary& n);
/// Of what the sides of n are at one place.
EvaluatedElement compute(const Binary& n, const EvaluatedElement& a, const EvaluatedElement& b);
/// A reduction that has come so far, and its next value. It begins with the operation's identity, which is not there.
EvaluatedElement compute(AssignOp op, const EvaluatedElement& total, const EvaluatedElement& next);

}  // namespace spdistal::notation
