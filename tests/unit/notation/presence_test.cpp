// Where expressions have values of their own: what `presence.hpp` says of all elements, `element.hpp` gives for each.
#include "notation/presence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

const double infinity = std::numeric_limits<double>::infinity();

TensorVar vector_of(const std::string& name, ScalarType type, double fill) {
  return TensorVar({Symbol(name), type, {Extent(4)}, Format({Compressed}).filled(fill)});
}

// One place, where each tensor stores something or nothing.
struct Place : TruthSets {
  std::map<TensorVar, EvaluatedElement> elements;

  bool access(const Access& n) const { return !elements.at(n.tensor).absent; }

  EvaluatedElement operator()(const Expr& expr) const {
    return match(
        expr, [&](const Access& n) { return elements.at(n.tensor); }, [](const Literal& n) { return element_of(n); },
        [](const Argument& n) { return EvaluatedElement{n.value}; }, [&](const Neg& n) { return negate((*this)(n.a)); },
        [&](const Binary& n) { return compute(n, (*this)(n.a), (*this)(n.b)); },
        [&](const Call& n) {
          std::vector<EvaluatedElement> args;
          for (const Expr& arg : n.args) args.push_back((*this)(arg));
          return compute(n.function, n.domain, args);
        },
        [&](const Reduction& n) {
          return compute(n.op, {identity(n.op, type_of(expr)), true}, (*this)(n.body));
        });
  }
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    const ScalarType types[] = {ScalarType::Float64, ScalarType::Float64, ScalarType::Int32, ScalarType::Complex128};
    for (double fill : {0.0, 1.0, infinity, -infinity}) {
      ScalarType type = types[pick(4)];
      if (type == ScalarType::Complex128 && std::isinf(fill)) type = ScalarType::Float64;
      tensors_.push_back(vector_of("t", type, fill));
    }
  }

  // One that has a meaning for its types.
  Expr expression(int depth) {
    while (true)
      if (Expr out = some_expression(depth); is_defined(out)) return out;
  }
  Place place() {
    Place out;
    for (const TensorVar& tensor : tensors_) {
      bool stored = pick(2) == 0;
      out.elements.emplace(tensor, stored ? EvaluatedElement{convert(some_value(), tensor.type())}
                                          : EvaluatedElement{tensor.fill(), true});
    }
    return out;
  }

 private:
  // Complex numbers have no order.
  static bool is_defined(const Expr& expr) {
    auto complex = [](const Expr& e) { return is_complex(type_of(e)); };
    if (auto* n = expr.as<Reduction>()) return !complex(n->body) || n->op == AssignOp::Add || n->op == AssignOp::Mul;
    if (auto* n = expr.as<Binary>())
      return !is_comparison(n->op) || n->op == BinaryOp::Eq || n->op == BinaryOp::Ne ||
             (!complex(n->a) && !complex(n->b));
    auto* n = expr.as<Call>();
    if (!n || std::none_of(n->args.begin(), n->args.end(), complex)) return true;
    auto types = info(n->function).types;
    return types != FunctionInfo::Types::Ordered && types != FunctionInfo::Types::Real;
  }
  Expr some_expression(int depth) {
    switch (depth == 0 ? pick(3) : pick(9)) {
      case 0:
      case 1: return Access{tensors_[pick(tensors_.size())], {i_}};
      case 2: return pick(3) == 0 ? Expr(Argument{2.0}) : Expr(Literal{some_value()});
      case 3: return Neg{expression(depth - 1)};
      case 4: return Reduction{AssignOp(1 + pick(6)), i_, expression(depth - 1)};
      case 5: return call(depth);
      default: return Binary{BinaryOp(pick(12)), expression(depth - 1), expression(depth - 1)};
    }
  }
  size_t pick(size_t n) { return size_t(random_() % n); }
  double some_value() {
    const double some[] = {0, 1, -1, 2, infinity, -infinity};
    return some[pick(6)];
  }
  Expr call(int depth) {
    const FunctionInfo& function = functions()[pick(functions().size())];
    std::vector<Expr> args;
    while (args.size() < function.arity) args.push_back(expression(depth - 1));
    bool maps = function.function != Function::Select && pick(3) == 0;
    return Call{function.function, args, maps ? Domain::Stored : Domain::Everywhere};
  }

  std::mt19937_64 random_;
  std::vector<TensorVar> tensors_;
  IndexVar i_{"i"};
};

TEST(Presence, HoldsWhatIsComputedElementByElement) {
  int absent = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    Generator generate(seed);
    Expr expr = generate.expression(3);
    Place place = generate.place();
    Presence<bool> presence = PresenceOf(place)(expr);
    EvaluatedElement element = place(expr);
    SCOPED_TRACE(print(expr));
    if (!presence.where) {
      ASSERT_TRUE(presence.fill.has_value());
      EXPECT_TRUE(element.absent);
    }
    if (element.absent && presence.fill) {
      EXPECT_TRUE(same_number(element.value, convert(*presence.fill, element.value.type())))
          << print(element.value) << ", not " << print(*presence.fill);
    }
    absent += !presence.where;
  }
  EXPECT_GT(absent, 100);
}

TEST(Presence, InfinitiesOfTwoSignsSwallowNothing) {
  IndexVar i("i");
  TensorVar b = vector_of("b", ScalarType::Float64, infinity), c = vector_of("c", ScalarType::Float64, infinity);
  Binary difference{BinaryOp::Sub, Access{b, {i}}, Access{c, {i}}};
  EXPECT_TRUE(cancels(difference));
  EXPECT_EQ(fill_of(difference), std::nullopt);
  EvaluatedElement absent{infinity, true}, stored{2.0};
  EXPECT_TRUE(
      std::isnan(std::get<double>(static_cast<const ScalarVariant&>(compute(difference, absent, absent).value))));
  EXPECT_FALSE(compute(difference, stored, absent).absent);
  EXPECT_EQ(compute(difference, stored, absent).value, Scalar(-infinity));
  // One of them alone does.
  Binary sum{BinaryOp::Add, Access{b, {i}}, Access{c, {i}}};
  EXPECT_FALSE(cancels(sum));
  EXPECT_TRUE(compute(sum, EvaluatedElement{-infinity}, absent).absent);
}

TEST(Presence, ComplexSumsAreNotSwallowed) {
  IndexVar i("i");
  TensorVar b = vector_of("b", ScalarType::Complex128, 0);
  Binary sum{BinaryOp::Add, Access{b, {i}}, Literal{infinity}};
  EvaluatedElement element = compute(sum, {std::complex<double>(1, 2)}, {infinity, true});
  EXPECT_EQ(element.value, Scalar(std::complex<double>(infinity, 2)));
  EXPECT_FALSE(element.absent);
  EXPECT_EQ(constant_of(sum), std::nullopt);
}

TEST(Presence, OfSemirings) {
  IndexVar i("i"), j("j");
  TensorVar B({Symbol("B"), ScalarType::Float64, {Extent(4), Extent(4)}, CSR.filled(infinity)});
  TensorVar c({Symbol("c"), ScalarType::Float64, {Extent(4)}, dense_format(1)});
  Expr length = Binary{BinaryOp::Add, Access{B, {i, j}}, Access{c, {j}}};
  EXPECT_EQ(fill_of(length), std::optional(Scalar(infinity)));
  EXPECT_EQ(fill_of(Reduction{AssignOp::Min, j, length}), std::optional(Scalar(infinity)));
  // The sum of infinities is none that a sum of nothing gives.
  EXPECT_EQ(fill_of(Reduction{AssignOp::Add, j, length}), std::nullopt);
  EXPECT_EQ(constant_of(Binary{BinaryOp::Mul, Literal{0.0}, length}), std::optional(Scalar(0.0)));
}

}  // namespace
}  // namespace spdistal::notation
