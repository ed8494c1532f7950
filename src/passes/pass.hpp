// What a pass is: a pure function from a legal kernel to a legal kernel of the same meaning.
#pragma once
#include "ir/nodes.hpp"

namespace spdistal::passes {

/// What is known of the machine that will run the kernel.
struct Target {
  int vector_bytes = 64;
  int64_t own_cache_bytes = 1 << 20;      // of a core
  int64_t shared_cache_bytes = 16 << 20;  // of many
  /// A device has no vectors to fill, no caches to write past and nobody who prefetches.
  enum class Processor : uint8_t { Host, Device } processor = Processor::Host;
};

/// Each in its own file, named after it; pipeline.hpp has the table.
ir::Function write_out_parts(const ir::Function& f, const Target& target);
ir::Function simplify(const ir::Function& f, const Target& target);
ir::Function block_rows(const ir::Function& f, const Target& target);
ir::Function accumulate(const ir::Function& f, const Target& target);
ir::Function outer_vectors(const ir::Function& f, const Target& target);
ir::Function hoist(const ir::Function& f, const Target& target);
ir::Function unroll(const ir::Function& f, const Target& target);
ir::Function vectorize(const ir::Function& f, const Target& target);
ir::Function propagate(const ir::Function& f, const Target& target);
ir::Function remove_unused(const ir::Function& f, const Target& target);
ir::Function stream(const ir::Function& f, const Target& target);
ir::Function flatten(const ir::Function& f, const Target& target);
ir::Function narrow(const ir::Function& f, const Target& target);
ir::Function pairs(const ir::Function& f, const Target& target);
ir::Function prefetch(const ir::Function& f, const Target& target);

}  // namespace spdistal::passes
