// Elements of sparse tensors as numbers: the row-major numbers of their coordinates, in the order of the levels.
#pragma once
#include <vector>

#include "runtime/space/space.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// Are the elements of such a tensor stored in the order of their numbers, and nothing else with them; and can these be
/// counted?
bool can_number(const Format& format, const std::vector<int64_t>& dims);
/// All numbers that there are.
runtime::Space all_numbers(const std::vector<int64_t>& dims);
/// Of the element at a position.
int64_t number_at(const Pattern& pattern, int64_t position);
/// Of all that is stored.
runtime::Space numbers_of(const Pattern& pattern);

}  // namespace spdistal
