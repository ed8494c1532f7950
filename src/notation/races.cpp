#include "notation/races.hpp"

#include <algorithm>
#include <set>

namespace spdistal::notation {

std::optional<Assign> find_race(const ConcreteStatement& statement, const IndexVar& var) {
  const Forall& loop = *find_loop(statement.body, var);
  // Temporaries of a where inside the loop are each iteration's own.
  std::set<TensorVar> own;
  each<Where>(loop.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) { own.insert(a.lhs.tensor); });
  });
  std::vector<IndexVar> roots = statement.provenance.roots_of(var);
  std::optional<Assign> race;
  each<Assign>(loop.body, [&](const Assign& assign) {
    const std::vector<IndexVar>& written = assign.lhs.indices;
    auto in_element = [&](const IndexVar& v) { return std::find(written.begin(), written.end(), v) != written.end(); };
    bool told_apart = in_element(var) || std::all_of(roots.begin(), roots.end(), in_element);
    if (!told_apart && !own.contains(assign.lhs.tensor) && !race) race = assign;
  });
  return race;
}

}  // namespace spdistal::notation
