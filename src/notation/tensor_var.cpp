#include "notation/tensor_var.hpp"

#include <fmt/format.h>

#include "spdistal/error.hpp"

namespace spdistal::notation {

TensorVar::TensorVar(Info info) : info_(std::make_shared<const Info>(std::move(info))) {
  if (format().order() != order())
    throw UserError(fmt::format("{} has {} dimension{}, its format '{}' stores {}",
                                symbol().name().empty() ? "the tensor" : symbol().name(), order(),
                                order() == 1 ? "" : "s", format().str(), format().order()),
                    "give one level format for each dimension");
}

Format dense_format(size_t order) { return Format(std::vector<LevelFormat>(order, Dense)); }

}  // namespace spdistal::notation
