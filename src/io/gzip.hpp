// Compressed text.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "io/source.hpp"

namespace spdistal {

/// By the first bytes.
bool is_gzip(std::string_view bytes);
/// The lines of a compressed file in bounded chunks. A damaged file is a UserError that says so.
std::unique_ptr<TextSource> inflate_lines(MappedFile file, std::string path);

}  // namespace spdistal
