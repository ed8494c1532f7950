// The native binary: storage as it lies in memory, in one or several pieces.
#pragma once
#include <span>
#include <string>

#include "io/files.hpp"

namespace spdistal {

/// Writes the pieces of one tensor: all of the same format, sizes and type.
void write_native(const std::string& path, std::span<const Storage* const> pieces);
/// How many pieces a file has.
int64_t native_pieces(const std::string& path);
/// One piece, checked. Throws UserError where the file is damaged.
Storage read_native_piece(const std::string& path, int64_t piece);

}  // namespace spdistal
