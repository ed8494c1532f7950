#include "api/session.hpp"

#include "api/waiting.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Of the session of this process: whether it is there, and the ranks where they were connected before it was made. Then
// what is wrong with the environment of one is thrown on all.
bool there_is_one = false;
std::shared_ptr<runtime::Transport> connected_first;

}  // namespace

Session::Session(ProcessOptions options, std::shared_ptr<runtime::Transport> ranks)
    : Process(std::move(options), std::move(ranks)), waiting(std::make_shared<Waiting>()) {}

void Session::connect(std::shared_ptr<runtime::Transport> transport) {
  if (is_connected()) waiting->clear();
  evaluated.reset();
  Process::connect(std::move(transport));
}

Session& Session::instance() {
  static Session session(
      [] {
        ProcessOptions options = connected_first ? runtime::together(*connected_first, ProcessOptions::from_environment)
                                                 : ProcessOptions::from_environment();
        options.smallest_shared = 8192;  // about what one thread does while others wake up
        there_is_one = true;
        return options;
      }(),
      connected_first);
  return session;
}

bool Session::leads() {
  if (!there_is_one && !connected_first) connected_first = start_ranks();
  try {
    runtime::Transport& transport = instance().transport();
    return transport.rank() == 0 || transport.gave_up();
  } catch (const UserError&) {  // which all ranks have come to, and one of them says
    return connected_first->rank() == 0;
  }
}

}  // namespace spdistal
