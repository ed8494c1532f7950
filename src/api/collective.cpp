#include "api/collective.hpp"

#include <new>

#include "api/session.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Whether there are ranks to give up on that this one had not given up on yet.
bool give_up() {
  runtime::Transport& transport = Session::instance().transport();
  if (transport.size() == 1 || transport.gave_up()) return false;
  transport.give_up();
  return true;
}

}  // namespace

void leave(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const UserError&) { throw; } catch (const runtime::Agreed&) {
    throw;
  } catch (const std::bad_alloc&) {
    give_up();
    runtime::raise_as_own(Session::instance().transport(), error);
  } catch (...) {
    // Said already where this is a call within another, and needless where there is one rank.
    if (!give_up()) throw;
    runtime::raise_as_own(Session::instance().transport(), error);
  }
}

}  // namespace spdistal
