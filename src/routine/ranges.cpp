#include "routine/ranges.hpp"

#include <algorithm>

namespace spdistal::routine {

using namespace notation;

bool is_range(const Provenance& provenance, const IndexVar& var, const std::vector<IndexVar>& around) {
  if (provenance.determined(var, around)) return true;
  auto follows = [&](const IndexVar& loop) { return provenance.depends(var, loop); };
  if (std::none_of(around.begin(), around.end(), follows)) return true;  // all of it
  const Relation* relation = provenance.replaced_by(var);
  if (!relation || relation->replaced.size() != 1) return false;
  // A block: something known, and what goes on from there.
  std::vector<IndexVar> needs = relation->needs();
  return std::any_of(needs.begin(), needs.end(), [&](const IndexVar& part) {
    return offset_of(relation->value_of(var), part) && is_range(provenance, part, around) &&
           std::all_of(needs.begin(), needs.end(),
                       [&](const IndexVar& other) { return other == part || provenance.determined(other, around); });
  });
}

}  // namespace spdistal::routine
