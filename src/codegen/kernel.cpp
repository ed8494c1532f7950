#include "codegen/kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

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

void Kernel::operator()(spd_call& call) const {
  if (state_->interpreter) return (*state_->interpreter)(call);
  require(state_->entry(&call) == 0, "a kernel succeeds");
}

bool Kernel::compiled() const { return state_->entry != nullptr; }
const std::string& Kernel::text() const { return state_->text; }

}  // namespace spdistal::codegen
