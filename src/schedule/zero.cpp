#include "schedule/zero.hpp"

#include <algorithm>
#include <set>

namespace spdistal::schedule {

using namespace notation;

namespace {

class Vanishing {
 public:
  explicit Vanishing(const Access& access) : access_(access) {}

  std::optional<Expr> survivor;

  bool operator()(const Stmt& stmt) {
    return match(
        stmt, [&](const Forall& n) { return (*this)(n.body); },
        [&](const Where& n) {
          // A producer without effect leaves its temporary at zero.
          if ((*this)(n.producer)) each<Assign>(n.producer, [&](const Assign& a) { zero_.insert(a.lhs.tensor); });
          return (*this)(n.consumer);
        },
        [&](const Assign& n) {
          bool none = is_zero(n.rhs);
          if (!none) survivor = n.rhs;
          return none;
        },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts)
            if (!(*this)(part)) return false;
          return true;
        });
  }

 private:
  bool is_zero(const Expr& expr) {
    return match(
        expr, [&](const Access& n) { return structurally_equal(n, access_) || zero_.contains(n.tensor); },
        [&](const Literal&) { return notation::is_zero(expr); }, [&](const Argument&) { return false; },
        [&](const Neg& n) { return is_zero(n.a); },
        [&](const Binary& n) {
          switch (n.op) {
            case BinaryOp::Mul: return is_zero(n.a) || is_zero(n.b);
            case BinaryOp::Div: return is_zero(n.a);
            default: return is_zero(n.a) && is_zero(n.b);
          }
        },
        [&](const Call& n) {
          return info(n.function).keeps_zero &&
                 std::all_of(n.args.begin(), n.args.end(), [&](const Expr& arg) { return is_zero(arg); });
        },
        [&](const Sum& n) { return is_zero(n.body); });
  }

  const Access& access_;
  std::set<TensorVar> zero_;
};

}  // namespace

bool vanishes_with(const Stmt& stmt, const Access& access) { return Vanishing(access)(stmt); }

std::optional<Expr> survivor(const Stmt& stmt, const Access& access) {
  Vanishing vanishing(access);
  return vanishing(stmt) ? std::nullopt : vanishing.survivor;
}

}  // namespace spdistal::schedule
