// Runs a task for each colour of this rank, in order.
#pragma once
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal::runtime {

/// Local: no rank waits for another. What a task throws is thrown here.
template <class F>
void launch(const Transport& transport, int64_t colours, F&& task) {
  Range mine = Mapping(colours, transport.size()).colours_of(transport.rank());
  for (int64_t c = mine.lo; c < mine.hi; c++) task(c);
}

/// Collective: what the task throws for any colour is thrown on all ranks.
template <class F>
void launch_together(Transport& transport, int64_t colours, F&& task) {
  together(transport, [&] { launch(transport, colours, task); });
}

}  // namespace spdistal::runtime
