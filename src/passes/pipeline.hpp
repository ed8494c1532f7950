// The passes in order, and the one way to run them.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "passes/pass.hpp"

namespace spdistal::passes {

struct Pass {
  std::string_view name;
  ir::Function (*run)(const ir::Function&, const Target&);
};

/// All passes for a processor, in the order they run.
std::span<const Pass> pipeline(Target::Processor processor = Target::Processor::Host);

/// What is told after each pass, where somebody listens.
struct PassStep {
  std::string_view pass;
  double seconds;
  const ir::Function& before;
  const ir::Function& after;  // the same where nothing changed
  bool changed;
};

enum class Check : uint8_t { Off, AfterEach };

struct PipelineOptions {
  Target target = {};
  std::string_view stop_after = {};  // a pass; empty: run all
  std::function<void(const PassStep&)> listen = {};
#ifdef NDEBUG
  Check check = Check::Off;
#else
  Check check = Check::AfterEach;
#endif
};

/// Runs the passes. With Check::AfterEach an illegal result is an InternalError that names the pass.
ir::Function optimize(const ir::Function& f, const PipelineOptions& options = {});

}  // namespace spdistal::passes
