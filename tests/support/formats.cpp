#include "support/formats.hpp"

#include <sstream>

#include "notation/tensor_var.hpp"

namespace spdistal::test {

Format format_of(const std::string& formats, std::string_view tensor, size_t order) {
  std::istringstream words(formats);
  for (std::string word; words >> word;)
    if (word.substr(0, word.find(':')) == tensor) return Format::parse(word.substr(word.find(':') + 1));
  return notation::dense_format(order);
}

}  // namespace spdistal::test
