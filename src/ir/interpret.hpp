// Runs kernel IR directly: slow, obvious, and checked. The oracle of code generation, and what runs kernels where there
// is no compiler. Threads of a Parallel run one after the other.
#pragma once
#include <memory>

#include "ir/nodes.hpp"
#include "spdistal/abi.h"

namespace spdistal::ir {

/// Whether accesses of the threads of a Parallel are compared with each other.
enum class Races : uint8_t { Ignored, Found };

class Interpreter {
 public:
  /// Resolves variables and types once; a function is then run any number of times, from several threads too.
  explicit Interpreter(const Function& f, Races races = Races::Ignored);

  /// Runs it; what it returns. An access outside of an array is an InternalError that names array and index; so is, with Races::Found, an
  /// element that one thread of a Parallel stores and another uses, other than by atomic stores from both.
  int operator()(spd_call& call) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

/// Runs it, and where it returns a code the one instead of it.
inline void interpret(const Function& f, spd_call& call, Races races = Races::Ignored) {
  if (Interpreter{f, races}(call) != 0) interpret(f.instead(), call, races);
}

}  // namespace spdistal::ir
