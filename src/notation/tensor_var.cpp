#include "notation/tensor_var.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "format/fill.hpp"
#include "spdistal/error.hpp"

namespace spdistal::notation {

TensorVar::TensorVar(Info info) : info_(std::make_shared<const Info>(std::move(info))) {
  if (format().order() != order())
    throw UserError(fmt::format("{} has {} dimension{}, its format '{}' stores {}",
                                symbol().name().empty() ? "the tensor" : symbol().name(), order(),
                                order() == 1 ? "" : "s", format().str(), format().order()),
                    "give one level format for each dimension");
  fill_ = fill_value(format(), type());
}

std::vector<int64_t> known_dims(const TensorVar& tensor) {
  std::vector<int64_t> dims;
  for (const Extent& extent : tensor.dims()) {
    require(extent.value().has_value(), "sizes are known before a tensor is placed or computed");
    dims.push_back(*extent.value());
  }
  return dims;
}

Format dense_format(size_t order) { return Format(std::vector<LevelFormat>(order, Dense)); }

}  // namespace spdistal::notation
