// Names that mean something in a text already.
#pragma once
#include <string>
#include <vector>

namespace spdistal::codegen {

/// Words that no variable may be called: those of the languages, and what texts use and define.
const std::vector<std::string>& reserved_words();

}  // namespace spdistal::codegen
