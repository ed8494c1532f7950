// Statements from text, for tests: tensors come to be where they are named, with the formats given ("B:ds").
#pragma once
#include <map>
#include <string>
#include <vector>

#include "notation/parse.hpp"

namespace spdistal::notation {

struct TextStatement {
  ParseScope scope;
  Assignment assignment;

  explicit TextStatement(std::string_view text, const std::vector<std::string>& formats = {})
      : scope(scope_with(formats)), assignment(parse_assignment(text, scope)) {}

 private:
  static ParseScope scope_with(const std::vector<std::string>& formats) {
    std::map<std::string, Format> known;
    for (const std::string& format : formats)
      known.emplace(format.substr(0, format.find(':')), Format::parse(format.substr(format.find(':') + 1)));
    ParseScope out;
    auto sizes = std::make_shared<std::map<std::string, Param>>();
    out.declare = [known, sizes](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
      std::vector<Extent> dims;
      for (const IndexVar& var : indices) dims.emplace_back(sizes->try_emplace(var.name()).first->second);
      auto format = known.find(std::string(name.text));
      return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims,
                        format == known.end() ? dense_format(indices.size()) : format->second});
    };
    return out;
  }
};

}  // namespace spdistal::notation
