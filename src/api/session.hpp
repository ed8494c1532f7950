// What a process has once: itself, to compile and run with, and what its program has said so far.
#pragma once
#include <memory>

#include "process/process.hpp"

namespace spdistal {

class Waiting;

class Session : public Process {
 public:
  explicit Session(ProcessOptions options, std::shared_ptr<runtime::Transport> ranks = nullptr);
  /// The one of this process, made at first use.
  static Session& instance();
  /// Collective where there is no session yet. Is this the rank that speaks for all, settings that are refused included?
  /// One that has given up on the others speaks for itself.
  static bool leads();

  /// As that of a process; what waits is about tensors that are not to be used any more.
  void connect(std::shared_ptr<runtime::Transport> transport);

  std::shared_ptr<Waiting> waiting;           // statements that were said and not computed yet
  std::shared_ptr<void> evaluated = nullptr;  // statements that `evaluate` has read; gone with the connection
};

/// That of the session: the ranks of the program.
inline runtime::Transport& transport() { return Session::instance().transport(); }

}  // namespace spdistal
