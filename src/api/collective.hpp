// The edge of calls that all ranks make together.
#pragma once
#include <exception>

namespace spdistal {

/// For an error on its way out of a collective call. One that all ranks throw goes on: they agreed on it, or it follows from
/// what they all said (UserError). Any other (memory ran out, an invariant broke) leaves the other ranks waiting: this
/// rank gives up on the transport, which ends them all with it, and the error says which rank it is.
[[noreturn]] void leave(const std::exception_ptr& error);

/// Runs a call of the public face that all ranks make.
template <class F>
decltype(auto) collectively(F&& body) {
  try {
    return body();
  } catch (...) { leave(std::current_exception()); }
}

}  // namespace spdistal
