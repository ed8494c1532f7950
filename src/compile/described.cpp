#include "compile/described.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace spdistal {

std::string shown(const notation::TensorVar& tensor) {
  return tensor.symbol().name().empty() ? "the tensor" : tensor.symbol().name();
}

std::string described(const notation::TensorVar& tensor) {
  std::string name = shown(tensor), type(name_of(tensor.type()));
  if (tensor.order() == 0) return fmt::format("{} ({})", name, type);
  return fmt::format(
      "{} ({}, {}, {})", name,
      join(tensor.dims(), " x ", [](const Extent& e) { return e.value() ? std::to_string(*e.value()) : "?"; }), type,
      tensor.format().str());
}

}  // namespace spdistal
