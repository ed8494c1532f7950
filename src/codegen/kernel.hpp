// A kernel that can be called: compiled, or interpreted where there is no compiler. Both take the same spd_call.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ir/nodes.hpp"
#include "runtime/device/device.hpp"
#include "spdistal/abi.h"

namespace spdistal::codegen {

class Kernel {
 public:
  /// Loads the function `name` from a shared library into the host; SystemError where that fails.
  static Kernel from_library(const std::string& path, const std::string& name, std::string text);
  static Kernel interpreted(const ir::Function& f, std::string text);
  /// What the host does to run a kernel on another device.
  static Kernel from_function(std::function<int(spd_call&)> run, std::string text);

  /// The same kernel, with one to call where it returns a code; that is made when it is first needed.
  Kernel with_instead(std::function<Kernel()> make) const;

  void operator()(spd_call& call) const;

  bool compiled() const;
  /// The C++ or CUDA text, also of an interpreted one.
  const std::string& text() const;

 private:
  struct State;
  struct Instead;
  explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
  std::shared_ptr<Instead> instead_;
};

}  // namespace spdistal::codegen
