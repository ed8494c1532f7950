// Moves elements between instances as matches say: planned once, run many times. One message for each pair of ranks
// that share anything; what stays within a rank is copied, or left alone where it is in place already.
//
//   start()   receives are posted, messages packed and sent, local copies made
//   finish()  messages are waited for and unpacked
//
// Instances may lie on devices (`Instance::mirror`): where one is up to date, what is sent is gathered there, and what arrives is put in its
// place there, so that nothing else travels.
//
// Between the two, any number of other exchanges may be under way; all ranks finish them in the same order. Long messages that are not one
// stretch of an instance go in parts (staging.hpp), which `poll` and `finish` pack and unpack. After planning there is no set computation and no
// allocation. Always holds: instances of one exchange are not written between start and finish by anyone else.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/partition/match.hpp"
#include "runtime/region/device_moves.hpp"
#include "runtime/region/instance.hpp"
#include "runtime/region/selection.hpp"
#include "runtime/region/traffic.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

enum class Direction {
  ToUsers,    // from the source of each match to its user
  ToSources,  // back: from the user to the source
};
enum class Arrival {
  Assign,  // no element comes twice
  Add,     // to what is there, by `operation`, in the order of the colours they come from: the same bits every time
};

struct ExchangeOptions {
  std::string region = "";     // the name to count under
  Traffic* traffic = nullptr;  // where to count, if anywhere; outlives the exchange
  Direction direction = Direction::ToUsers;
  Arrival arrival = Arrival::Assign;
  ReduceOp operation = ReduceOp::Sum;
  DeviceMoves* moves = nullptr;  // where instances lie on devices too; outlives the exchange
};

class Exchange {
 public:
  /// Collective. `sources` and `users` are the instances of this rank's colours of the two partitions that were
  /// matched.
  Exchange(Transport& transport, const std::vector<Match>& matches, const Mapping& source_ranks,
           const Mapping& user_ranks, Instances sources, Instances users, ExchangeOptions options);
  ~Exchange();
  Exchange(Exchange&&) noexcept;

  void start();
  /// Makes progress; whether all has arrived. `finish` is needed all the same.
  bool poll();
  void finish();
  void run() { start(), finish(); }

  /// Other memory of the same layouts: the next of two buffers, say.
  void rebind(Instances sources, Instances users);

  /// Gives back the memory of messages until the next start: for exchanges that are kept but run seldom.
  void release();

  /// Bytes that come from other ranks each time, and whether one collective brings them.
  int64_t bytes_received() const;
  bool is_collective() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spdistal::runtime
