// Ranks within one process: the loopback (one rank, all pieces), and several ranks as threads, with which the logic of
// exchanges is tried without a launcher.
#pragma once
#include <functional>
#include <memory>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

struct ThreadsOptions {
  /// The most bytes one message may have; tests lower it.
  int64_t largest_message = INT64_MAX;
};

/// The transport of a program that is one rank.
std::unique_ptr<Transport> loopback(ThreadsOptions options = {});

/// Runs `body` on so many ranks at once, each a thread with its transport; returns when all have. What the first to
/// throw threw is thrown here; ranks that wait for one that threw are stopped with a SystemError.
void run_ranks(int ranks, const std::function<void(Transport&)>& body, ThreadsOptions options = {});

}  // namespace spdistal::runtime
