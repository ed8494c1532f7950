// The small functions that generated text calls, each printed only where it is used.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "codegen/expr_text.hpp"

namespace spdistal::codegen {

struct HelperText {
  std::vector<Helper> needed_by;        // all of them
  std::vector<std::string_view> names;  // that it defines: no variable of a kernel has one of them
  std::string text;
};
using HelperTexts = std::vector<HelperText>;

/// All that a language has, in the order in which they are printed.
const HelperTexts& helper_texts(Language language);
/// Those that only texts for the host have, and only those for devices.
HelperTexts host_helpers();
HelperTexts cuda_helpers();

/// Type names and helper functions that a text needs, before the kernel itself; empty where it needs none.
std::string preamble(const Spelling& spelling, const Needs& needs);

}  // namespace spdistal::codegen
