// Tensors of blocks, and the ordinary ones of half the order that they stand for: element x of dimension d is element x % b
// of block x / b, b being the size of blocks along d. Sizes are rounded up to whole blocks.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/coordinates.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Are these the sizes, or coordinates, of the ordinary tensor that a format stores the blocks of?
inline bool is_ordinary(const Format& format, size_t order) {
  return !format.blocks().empty() && order == format.blocks().size();
}
/// Are these sizes of blocks as the format has them, with how many there are before?
bool is_in_blocks(const Format& format, const std::vector<int64_t>& dims);
/// Sizes as the format stores them: of blocks, how many there are along each dimension, then how large they are.
std::vector<int64_t> stored_dims(const Format& format, const std::vector<int64_t>& dims);
/// Entries as the format stores them.
Coordinates stored_entries(const Format& format, Coordinates entries);
/// Collective. The ordinary tensor, of sizes that are known or else those of whole blocks. What blocks hold besides, zeros,
/// is no element of it unless all is dense. Throws UserError where something else lies outside of the sizes.
Home put_together(runtime::Transport& transport, const Home& blocked, std::vector<int64_t> dims);

}  // namespace spdistal
