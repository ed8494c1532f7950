// Inside the interpreter: the threads of a GPU block, all at once, statement by statement. Those that do not take a
// branch or have left a loop sit out until the others join them. Blocks run one after the other.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "ir/interpret.hpp"
#include "ir/interpret_code.hpp"

namespace spdistal::ir {

/// What happened to an element of an array since the launch began, as far as something later may race with it.
struct GpuTouch {
  /// What threads of one warp did since the block last waited, the last thing first known at `waited`.
  struct Past {
    int64_t warp;
    Use use;
    int64_t waited;  // how often the warp had waited then
    int64_t thread;  // who, or several
  };
  int64_t block = Touch::nobody;  // that the past is of
  int64_t waited = 0;             // likewise: how often it had waited
  std::vector<Past> past;
  std::array<int64_t, 3> by_blocks{Touch::nobody, Touch::nobody,
                                   Touch::nobody};  // for each use: which block, or several
};

/// One run of a grid.
struct GpuLaunch {
  std::function<int64_t()> block;                        // that runs
  int64_t waited = 0;                                    // how often its threads have waited for each other
  std::vector<int64_t> warp_waited = {};                 // likewise of the lanes of each warp
  std::map<size_t, std::vector<GpuTouch>> touches = {};  // of the elements of arrays, by slot
};

/// Compares an access of a GPU thread with those of others that no barrier lies between.
void touch_on_gpu(Frame& f, const Frame::Array& array, int64_t index, Use use, const std::string& name);

/// A loop over the threads of a block: GPUThread, or GPUWarp with GPULane inside. `serial` makes the statements that each
/// thread runs for itself. A barrier, or something that a warp computes together, that only some of the threads come to is an
/// InternalError.
Exec lockstep(const For& threads, Slots& slots, const std::function<Exec(const Stmt&)>& serial, Races races);

}  // namespace spdistal::ir
