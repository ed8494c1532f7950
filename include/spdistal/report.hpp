// What a run did, piece by piece, and all that went from rank to rank for it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spdistal {

struct PieceReport {
  int64_t non_zeros = 0;  // of its sparse operands
  double seconds = 0;     // in the leaf, compilation aside
  /// By access, in bytes of values. Pieces of different colours may be on one rank: then nothing crosses between ranks.
  struct Moved {
    int64_t received = 0;       // from pieces of other colours
    int64_t sent = 0;           // to pieces of other colours
    int64_t between_ranks = 0;  // of what was received
    int64_t copied = 0;         // from the piece of the same colour
    int64_t reduced = 0;        // of what was received or copied: added to what was there
    int64_t packed = 0;         // of a sparse result: packed anew where it lives
    int64_t piece = 0;          // the largest piece held of it at a time; 0 where it is read at home
  };
  std::map<std::string, Moved> moved = {};
};

/// What left ranks for others, of one kind: values, indices, reductions, results, redistribution, agreement. It was counted
/// where it left; those of all tensors and kinds together are all that did.
struct SentReport {
  std::string tensor;  // empty: none in particular
  std::string kind;
  int64_t bytes = 0, messages = 0;  // to as many ranks as got them
};

struct Report {
  std::vector<PieceReport> pieces = {};
  std::vector<std::string> accesses = {};  // the result first
  std::string leaf = {};  // the routine that computed pieces, and where it is from; empty: generated code did
  std::vector<SentReport> sent = {};
  double compile_seconds = 0;   // of the slowest rank: kernels that were not there yet
  double exchange_seconds = 0;  // of the slowest rank
  int64_t overlapped = 0;       // chunks of leaves that ran while data was under way
  int64_t planned = 0;          // fetches that were planned for it: none where patterns stand

  /// Of an access, over all pieces: sums, and the largest piece.
  PieceReport::Moved total(const std::string& access) const;
  /// Over all ranks: everything, or all of a kind.
  int64_t bytes_sent() const;
  int64_t bytes_sent(const std::string& kind) const;
  int64_t messages_sent() const;
  /// The most non-zeros of a piece over their mean.
  double imbalance() const;

  /// For people.
  std::string str() const;
  std::string json() const;
};

}  // namespace spdistal
