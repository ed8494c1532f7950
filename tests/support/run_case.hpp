// Running a program as the tool would, on ranks that are threads or those of a transport, and comparing with the dense
// evaluator.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "runtime/transport/transport.hpp"
#include "support/program_case.hpp"

namespace spdistal::test {

/// Collective. What is wrong with a program on the ranks of a transport, or nothing. It is run twice, the second time
/// with other values. Throws UserError where it is refused. The bytes that its reports account for are compared with those
/// that this rank has handed over so far, where somebody counts them.
std::optional<std::string> find_fault(runtime::Transport& transport, const BuiltProgram& program,
                                      const std::function<int64_t()>& handed = {});
/// The same on as many ranks as its setting says, as threads.
std::optional<std::string> find_fault(const BuiltProgram& program);

}  // namespace spdistal::test
