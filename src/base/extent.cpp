#include "spdistal/extent.hpp"

#include <fmt/format.h>

#include "spdistal/error.hpp"

namespace spdistal {

void Param::bind(int64_t value) {
  if (value < 0)
    throw UserError(fmt::format("{} cannot be {}: sizes are not negative",
                                symbol().name().empty() ? "a size" : symbol().name(), value));
  state_->value = value;
}

Extent::Checked Extent::checked(int64_t value) {
  if (value < 0) throw UserError(fmt::format("a size cannot be {}: sizes are not negative", value));
  return {value};
}

}  // namespace spdistal
