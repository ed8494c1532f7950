#include "codegen/cpp.hpp"

#include <fmt/format.h>

#include "codegen/helpers.hpp"
#include "codegen/stmt_text.hpp"

namespace spdistal::codegen {

std::string cpp_text(const ir::Function& f) {
  const Spelling& cpp = spelling(Language::Cpp);
  Needs needs;
  StmtText text(cpp, needs);
  text.names().reserve(f.name);
  text.function_body(f);
  std::string parts = text.take_parts(), body = text.take();
  return fmt::format("#include \"abi.h\"\n{}{}\nextern \"C\" int {}(spd_call* call) {{\n{}  return 0;\n}}\n",
                     preamble(cpp, needs), parts, f.name, body);
}

}  // namespace spdistal::codegen
