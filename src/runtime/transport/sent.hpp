// What leaves a rank, counted where it leaves: in `Transport::send`, and in the collectives that a transport has of its own.
// Whoever sends says what for (`Sending`); whoever wants to know writes it down (`Recording`).
//
// A collective counts as what it gives to every other rank, however the transport goes about it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spdistal::runtime {

/// What bytes are sent for.
enum class Cargo : uint8_t {
  Values,          // of operands, to who computes with them
  Indices,         // which elements those are: sets, coordinates, positions
  Reductions,      // parts of results, to be added up where they live
  Results,         // on their way home, and to others who hold them
  Redistribution,  // operands that are stored in another way before they are used
  Agreement,       // sizes, and whether all is well: what nobody speaks for
};
std::string_view name_of(Cargo cargo);

/// Bytes and messages by what they were about and for. Keeps its storage when cleared.
class Ledger {
 public:
  struct Entry {
    std::string about;  // a tensor; empty: none in particular
    Cargo cargo;
    int64_t bytes = 0, messages = 0;
  };

  void add(std::string_view about, Cargo cargo, int64_t bytes, int64_t messages);
  void add(const Ledger& other);
  const std::vector<Entry>& entries() const { return entries_; }
  int64_t bytes() const;
  /// Back to zero.
  void clear();

 private:
  std::vector<Entry> entries_;
};

class Recording;

/// The counter of a transport.
class Sent {
 public:
  Sent() = default;
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;

  void count(int64_t bytes, int64_t messages);

 private:
  friend class Sending;
  friend class Recording;
  std::string_view about_ = {};
  Cargo cargo_ = Cargo::Agreement;
  Recording* recording_ = nullptr;  // the innermost
};

/// While it lives, what leaves is of this kind; the text stays where it is.
class Sending {
 public:
  Sending(Sent& sent, std::string_view about, Cargo cargo) : sent_(sent), about_(sent.about_), cargo_(sent.cargo_) {
    sent.about_ = about;
    sent.cargo_ = cargo;
  }
  ~Sending() {
    sent_.about_ = about_;
    sent_.cargo_ = cargo_;
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  /// Of no tensor in particular.
  static Sending agreement(Sent& sent) { return {sent, {}, Cargo::Agreement}; }

 private:
  Sent& sent_;
  std::string_view about_;
  Cargo cargo_;
};

/// While it lives, what leaves is added to a ledger.
class Recording {
 public:
  Recording(Sent& sent, Ledger& ledger) : sent_(sent), ledger_(ledger), around_(sent.recording_) {
    sent.recording_ = this;
  }
  ~Recording() { sent_.recording_ = around_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  friend class Sent;
  Sent& sent_;
  Ledger& ledger_;
  Recording* around_;
};

inline void Sent::count(int64_t bytes, int64_t messages) {
  if (bytes == 0) return;
  for (Recording* r = recording_; r; r = r->around_) r->ledger_.add(about_, cargo_, bytes, messages);
}

}  // namespace spdistal::runtime
