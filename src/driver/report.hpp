// What a run did, piece by piece: for people.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spdistal {

struct PieceReport {
  int64_t non_zeros = 0;  // of its sparse operands
  double seconds = 0;     // in the leaf
  /// By tensor: bytes that came from pieces on other ranks, from pieces on the same rank, and that were added.
  struct Moved {
    int64_t received = 0, copied = 0, reduced = 0, sent = 0;
  };
  std::map<std::string, Moved> tensors = {};
};

struct Report {
  std::vector<PieceReport> pieces;
  int64_t messages = 0;
  double exchange_seconds = 0;  // of the slowest rank
  std::string schedule;         // what was chosen, and why; empty where it was given

  /// The most non-zeros of a piece over their mean.
  double imbalance() const;
  std::string str() const;
};

}  // namespace spdistal
