#include "schedule/nest.hpp"

#include <algorithm>

namespace spdistal::schedule {

using namespace notation;

bool derives_from(const Provenance& provenance, const IndexVar& var, const IndexVar& root) {
  std::vector<IndexVar> roots = provenance.roots_of(var);
  return std::find(roots.begin(), roots.end(), root) != roots.end();
}

bool determined(const Provenance& provenance, const IndexVar& var, const std::vector<IndexVar>& loops) {
  if (std::find(loops.begin(), loops.end(), var) != loops.end()) return true;
  const Relation* relation = provenance.replaced_by(var);
  if (!relation) return false;
  std::vector<IndexVar> needed = relation->needs();
  return std::all_of(needed.begin(), needed.end(),
                     [&](const IndexVar& child) { return determined(provenance, child, loops); });
}

}  // namespace spdistal::schedule
