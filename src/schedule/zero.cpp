#include "schedule/zero.hpp"

#include <set>

#include "notation/presence.hpp"

namespace spdistal::schedule {

using namespace notation;

namespace {

// What is left where one access stores nothing.
class Vanishing : public TruthSets {
 public:
  explicit Vanishing(const notation::Access& access) : access_(access) {}

  std::optional<Expr> survivor;

  bool operator()(const Stmt& stmt) {
    return match(
        stmt, [&](const Forall& n) { return (*this)(n.body); },
        [&](const Where& n) {
          // A producer without effect leaves its temporary at its fill value.
          if ((*this)(n.producer)) each<Assign>(n.producer, [&](const Assign& a) { unmade_.insert(a.lhs.tensor); });
          return (*this)(n.consumer);
        },
        [&](const Assign& n) {
          bool left = PresenceOf(*this).other_than(n.rhs, neutral_of(n));
          if (left) survivor = n.rhs;
          return !left;
        },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts)
            if (!(*this)(part)) return false;
          return true;
        });
  }

  bool access(const notation::Access& n) const {
    return !structurally_equal(n, access_) && !unmade_.contains(n.tensor);
  }

 private:
  const notation::Access& access_;
  std::set<TensorVar> unmade_;
};

}  // namespace

std::optional<Expr> survivor(const Stmt& stmt, const notation::Access& access) {
  Vanishing vanishing(access);
  return vanishing(stmt) ? std::nullopt : vanishing.survivor;
}

}  // namespace spdistal::schedule
