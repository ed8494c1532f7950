// What a refused call says.
#pragma once
#include <string>

#include "spdistal/error.hpp"

namespace spdistal::test {

/// All of the diagnostic that f() throws.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const UserError& error) { return error.what(); }
  return "nothing was refused";
}

}  // namespace spdistal::test
