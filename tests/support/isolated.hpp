// A call in a process of its own: what crashes there, or never ends, is told of here.
#pragma once
#include <functional>
#include <string>

namespace spdistal::test {

/// What `f` returns; "ended by signal 11", "not done after 60 seconds" or the like where it does not. The calling process has
/// no threads of its own at that time.
std::string isolated(const std::function<std::string()>& f, double seconds);

}  // namespace spdistal::test
