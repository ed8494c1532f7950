#include "schedule/nest.hpp"

#include <algorithm>

namespace spdistal::schedule {

using namespace notation;

bool is_found_from(const Provenance& provenance, const IndexVar& var, const IndexVar& loop) {
  if (var == loop) return true;
  const Relation* relation = provenance.replaced_by(var);
  if (!relation) return false;
  std::vector<IndexVar> needed = relation->needs();
  return std::any_of(needed.begin(), needed.end(),
                     [&](const IndexVar& child) { return is_found_from(provenance, child, loop); });
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
