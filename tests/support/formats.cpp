#include "support/formats.hpp"

#include <algorithm>
#include <sstream>

#include "format/fill.hpp"
#include "notation/tensor_var.hpp"

namespace spdistal::test {

Format format_of(const std::string& formats, std::string_view tensor, size_t order) {
  std::istringstream words(formats);
  for (std::string word; words >> word;)
    if (word.substr(0, word.find(':')) == tensor) return Format::parse(word.substr(word.find(':') + 1));
  return notation::dense_format(order);
}

bool may_be_blocks(const std::vector<int64_t>& dims) {
  return !dims.empty() && dims.size() % 2 == 0 &&
         std::all_of(dims.begin() + long(dims.size() / 2), dims.end(), [](int64_t size) { return size > 0; });
}

Format in_blocks(const Format& format, const std::vector<int64_t>& dims) {
  return format.blocked({dims.begin() + long(dims.size() / 2), dims.end()});
}

Format without_blocks(const Format& format) {
  return filled_like(Format(format.levels(), format.mode_order()), format);
}

}  // namespace spdistal::test
