#include "notation/races.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace spdistal::notation {
namespace {

// A rotation adds other variables to what it gives. Where one of them changes inside of a loop and is no part of the
// element, turns of the loop come to the same element, one after the other.
bool is_shifted(const Provenance& provenance, const IndexVar& var, const std::set<IndexVar>& changing,
                const std::function<bool(const IndexVar&)>& in_element) {
  const Relation* relation = provenance.made_by(var);
  if (!relation) return false;
  for (const IndexVar& need : relation->needs())
    for (const IndexVar& root : provenance.roots_of(need))
      if (changing.contains(root) && !in_element(root)) return true;
  return std::any_of(relation->replaced.begin(), relation->replaced.end(),
                     [&](const Replaced& up) { return is_shifted(provenance, up.var, changing, in_element); });
}

}  // namespace

std::optional<Assign> find_race(const ConcreteStatement& statement, const IndexVar& var) {
  const Forall& loop = *find_loop(statement.body, var);
  // Temporaries of a where inside the loop are each iteration's own.
  std::set<TensorVar> own;
  each<Where>(loop.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) { own.insert(a.lhs.tensor); });
  });
  std::vector<IndexVar> roots = statement.provenance.roots_of(var);
  std::set<IndexVar> changing;  // what loops inside stand for
  each<Forall>(loop.body, [&](const Forall& inside) {
    for (const IndexVar& root : statement.provenance.roots_of(inside.var)) changing.insert(root);
  });
  std::optional<Assign> race;
  each<Assign>(loop.body, [&](const Assign& assign) {
    const std::vector<IndexVar>& written = assign.lhs.indices;
    auto in_element = [&](const IndexVar& v) { return std::find(written.begin(), written.end(), v) != written.end(); };
    bool told_apart = in_element(var) || (std::all_of(roots.begin(), roots.end(), in_element) &&
                                          !is_shifted(statement.provenance, var, changing, in_element));
    if (!told_apart && !own.contains(assign.lhs.tensor) && !race) race = assign;
  });
  return race;
}

}  // namespace spdistal::notation
