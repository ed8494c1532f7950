#include "reference/products.hpp"

#include <cmath>
#include <map>
#include <set>

#include "notation/arithmetic.hpp"

namespace spdistal::reference {

using namespace notation;

namespace {

using Products = std::optional<std::vector<Product>>;
using VariableUses = std::map<IndexVar, size_t>;

void count_uses(const Expr& expr, VariableUses& uses) {
  if (auto* access = expr.as<Access>())
    for (const IndexVar& var : access->indices) uses[var]++;
  children(expr, [&](const Expr& child) { count_uses(child, uses); });
}

// Sums are taken where the definition puts them: a product without the variable counts as often as the variable has
// values.
class Multiplier {
 public:
  Multiplier(const Assignment& assignment, const std::function<int64_t(const IndexVar&)>& size)
      : size_(size), whole_(is_integral(type_of(assignment.rhs))) {
    left_.insert(assignment.lhs.indices.begin(), assignment.lhs.indices.end());
    count_uses(assignment.rhs, total_);
    each<Reduction>(assignment.rhs, [&](const Reduction& n) { explicit_.insert(n.var); });
  }

  Products operator()(const Expr& expr) {
    Products products = plain(expr);
    VariableUses uses;
    count_uses(expr, uses);
    for (const auto& [var, times] : uses) {
      bool held = false;
      children(expr, [&, var = var](const Expr& child) {
        VariableUses inner;
        count_uses(child, inner);
        held |= inner.contains(var) && inner.at(var) == total_.at(var);
      });
      if (!left_.contains(var) && !explicit_.contains(var) && times == total_.at(var) && !held) sum(products, var);
    }
    return products;
  }

 private:
  void sum(Products& products, const IndexVar& var) {
    if (!products) return;
    for (Product& product : *products) {
      IndexVar own;
      bool used = false;
      for (Access& factor : product.factors)
        for (IndexVar& index : factor.indices)
          if (index == var) index = own, used = true;
      if (!used) product.coefficient *= double(size_(var));
    }
  }

  // Whole numbers add and multiply as others do; in the midst of others, or divided, they round.
  bool rounds(const Binary& n) const { return is_integral(type_of(n)) && (!whole_ || n.op == BinaryOp::Div); }

  Products combined(const Binary& n) {
    Products a = (*this)(n.a), b = (*this)(n.b);
    if (!a || !b || rounds(n) || is_comparison(n.op) || is_logical(n.op)) return std::nullopt;
    std::vector<Product> out;
    switch (n.op) {
      case BinaryOp::Div:
        if (b->size() != 1 || !(*b)[0].factors.empty()) return std::nullopt;
        if ((*b)[0].coefficient == 0.0) return std::nullopt;
        for (Product& product : *a) product.coefficient /= (*b)[0].coefficient;
        return a;
      case BinaryOp::Mul:
        for (const Product& x : *a)
          for (const Product& y : *b) {
            out.push_back({x.coefficient * y.coefficient, x.factors});
            out.back().factors.insert(out.back().factors.end(), y.factors.begin(), y.factors.end());
          }
        return out;
      default:
        for (Product& product : *b) {
          if (n.op == BinaryOp::Sub) product.coefficient = -product.coefficient;
          a->push_back(product);
        }
        return a;
    }
  }

  static Products constant(const Scalar& value) {
    Scalar number = convert(value, ScalarType::Complex128);
    Complex coefficient = std::get<Complex>(static_cast<const ScalarVariant&>(number));
    if (!std::isfinite(coefficient.real()) || !std::isfinite(coefficient.imag())) return std::nullopt;
    return std::vector{Product{coefficient, {}}};
  }

  Products plain(const Expr& expr) {
    return match(
        expr,
        [&](const Access& n) -> Products {
          if (!is_zero(n.tensor.fill())) return std::nullopt;
          return std::vector{Product{1, {n}}};
        },
        [&](const Literal& n) -> Products { return constant(n.value); },
        [&](const Argument& n) -> Products { return constant(n.value); },
        [&](const Neg& n) -> Products {
          Products out = (*this)(n.a);
          if (out)
            for (Product& product : *out) product.coefficient = -product.coefficient;
          return out;
        },
        [&](const Binary& n) -> Products { return combined(n); }, [&](const Call&) -> Products { return std::nullopt; },
        [&](const Reduction& n) -> Products {
          if (n.op != AssignOp::Add) return std::nullopt;
          Products out = (*this)(n.body);
          sum(out, n.var);
          return out;
        });
  }

  const std::function<int64_t(const IndexVar&)>& size_;
  bool whole_;  // numbers all the way
  std::set<IndexVar> left_, explicit_;
  VariableUses total_;
};

}  // namespace

Products multiply_out(const Assignment& assignment, const std::function<int64_t(const IndexVar&)>& size) {
  Products out = Multiplier(assignment, size)(assignment.rhs);
  // What is multiplied by a zero of the text is not there.
  if (out) std::erase_if(*out, [](const Product& product) { return product.coefficient == 0.0; });
  return out;
}

}  // namespace spdistal::reference
