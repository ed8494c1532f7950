#include "codegen/kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>

#include "base/require.hpp"

namespace spdistal::codegen {

struct Kernel::State {
  std::string text;
  void* library = nullptr;
  spd_kernel* entry = nullptr;
  std::optional<ir::Interpreter> interpreter;

  // A library stays loaded: threads of its OpenMP regions may outlive the kernel.
  ~State() = default;
};

struct Kernel::Instead {
  std::function<Kernel()> make;
  std::once_flag once;
  std::optional<Kernel> kernel;
};

Kernel Kernel::from_library(const std::string& path, const std::string& name, std::string text) {
  auto state = std::make_shared<State>();
  state->text = std::move(text);
  state->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!state->library) throw SystemError(fmt::format("cannot load a compiled kernel: {}", dlerror()));
  state->entry = reinterpret_cast<spd_kernel*>(dlsym(state->library, name.c_str()));
  if (!state->entry) throw SystemError(fmt::format("a compiled kernel lacks its function '{}'", name));
  return Kernel(state);
}

Kernel Kernel::interpreted(const ir::Function& f, std::string text) {
  auto state = std::make_shared<State>();
  state->text = std::move(text);
  state->interpreter.emplace(f);
  return Kernel(state);
}

Kernel Kernel::with_instead(std::function<Kernel()> make) const {
  Kernel out = *this;
  out.instead_ = std::make_shared<Instead>();
  out.instead_->make = std::move(make);
  return out;
}

void Kernel::operator()(spd_call& call) const {
  if ((state_->interpreter ? (*state_->interpreter)(call) : state_->entry(&call)) == 0) return;
  require(instead_ != nullptr, "a kernel that fails has one that is called instead");
  std::call_once(instead_->once, [&] { instead_->kernel.emplace(instead_->make()); });
  (*instead_->kernel)(call);
}

bool Kernel::compiled() const { return state_->entry != nullptr; }
const std::string& Kernel::text() const { return state_->text; }

}  // namespace spdistal::codegen
