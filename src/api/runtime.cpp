// The ranks as a user sees them.
#include "spdistal/runtime.hpp"

#include "api/session.hpp"

namespace spdistal {

int rank() { return Session::instance().transport().rank(); }
int ranks() { return Session::instance().transport().size(); }

}  // namespace spdistal
