#include "codegen/kernel.hpp"

#include <mutex>

#include "base/require.hpp"
#include "ir/interpret.hpp"
#include "runtime/device/host.hpp"

namespace spdistal::codegen {

struct Kernel::State {
  std::string text;
  runtime::Device* device;
  std::shared_ptr<const runtime::LoadedKernel> loaded;
  bool compiled;
};

struct Kernel::Instead {
  std::function<Kernel()> make;
  std::once_flag once;
  std::optional<Kernel> kernel;
};

Kernel Kernel::from_library(const std::string& path, const std::string& name, std::string text) {
  runtime::Device& host = runtime::host_device();
  return Kernel(std::make_shared<const State>(
      State{std::move(text), &host, host.load(runtime::SharedLibrary{path, name}), true}));
}

Kernel Kernel::interpreted(const ir::Function& f, std::string text) {
  runtime::Device& host = runtime::host_device();
  runtime::HostFunction interpreter{[run = ir::Interpreter(f)](spd_call& call) { return run(call); }};
  return Kernel(std::make_shared<const State>(State{std::move(text), &host, host.load(interpreter), false}));
}

Kernel Kernel::from_function(std::function<int(spd_call&)> run, std::string text) {
  runtime::Device& host = runtime::host_device();
  runtime::HostFunction function{std::move(run)};
  return Kernel(std::make_shared<const State>(State{std::move(text), &host, host.load(function), true}));
}

Kernel Kernel::with_instead(std::function<Kernel()> make) const {
  Kernel out = *this;
  out.instead_ = std::make_shared<Instead>();
  out.instead_->make = std::move(make);
  return out;
}

void Kernel::operator()(spd_call& call) const {
  if (state_->device->launch(*state_->loaded, {.call = &call}) == 0) return;
  require(instead_ != nullptr, "a kernel that fails has one that is called instead");
  std::call_once(instead_->once, [&] { instead_->kernel.emplace(instead_->make()); });
  (*instead_->kernel)(call);
}

bool Kernel::compiled() const { return state_->compiled; }
const std::string& Kernel::text() const { return state_->text; }

}  // namespace spdistal::codegen
