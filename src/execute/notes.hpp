// What a rank notes down of a run, and how the report is put together from the notes of all ranks.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "execute/report.hpp"
#include "execute/tasks.hpp"
#include "runtime/region/traffic.hpp"

namespace spdistal {

/// By a clock that only goes forward.
double seconds_now();

struct RunNotes {
  runtime::Traffic traffic;
  std::map<std::pair<size_t, int64_t>, int64_t> held;  // by access and colour: bytes of the largest piece
  std::vector<int64_t> stored;                         // of the colours of this rank: elements of sparse operands
  std::vector<double> seconds;                         // likewise: in the leaf
  double exchange_seconds = 0;
  int64_t overlapped = 0;  // chunks that ran while data was under way
  int64_t planned = 0;     // fetches, binding included

  /// Of so many colours of this rank; what was planned stands.
  void begin(int64_t colours);
  /// The pieces at hand of accesses: they may be gone when somebody asks for a report.
  void note_pieces(const lower::Distributed& program, const Tasks& tasks, const Tasks::Pieces& pieces);
  void note_piece(size_t access, const Tasks& tasks, const Tasks::Pieces& pieces);
};

/// The name under which what goes home is counted, apart from what is fetched of the same tensor.
std::string home_region(const plan::Plan& plan);

/// Collective.
Report collect(runtime::Transport& transport, const RunNotes& notes, const plan::Plan& plan, const Tasks& tasks,
               const Shares& result);

}  // namespace spdistal
