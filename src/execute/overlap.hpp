// Computing while data is under way: the outermost loop of the leaf is cut into chunks. Those that need nothing from
// other ranks run between the start and the end of the exchange, which is polled after each; the others run then.
#pragma once
#include <vector>

#include "compile/compile.hpp"
#include "execute/tasks.hpp"

namespace spdistal {

/// By colour of this rank and chunk: does it need nothing from other ranks? Empty where no chunk is to be run early.
using ReadyChunks = std::vector<std::vector<bool>>;

/// Local. Looks at fetches as they are planned; computing meanwhile pays from `least` bytes on that come from other ranks.
ReadyChunks ready_chunks(const plan::Plan& plan, const ChunkedLeaf& chunked, Tasks& tasks, const Tasks::Pieces& pieces,
                         const runtime::Transport& transport, int64_t least);

}  // namespace spdistal
