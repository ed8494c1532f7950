#include "level/arrays.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "memory/out_of_memory.hpp"
#include "spdistal/error.hpp"

namespace spdistal {

const IndexArray& LevelArrays::operator[](std::string_view name) const {
  for (const NamedArray& each : arrays)
    if (each.name == name) return each.array;
  throw InternalError(fmt::format("a level is asked for an array '{}' that it does not have", name));
}

int64_t checked_positions(int64_t count, int64_t per, size_t bytes, std::string_view what) {
  int64_t product = 0, size = 0;
  if (!__builtin_mul_overflow(count, per, &product) && !__builtin_mul_overflow(product, int64_t(bytes), &size) &&
      size_t(size) <= physical_memory())
    return product;
  throw UserError(fmt::format("{} takes {}, more than the {} of this machine's memory", what,
                              describe_bytes(double(count) * double(per) * double(bytes)),
                              describe_bytes(double(physical_memory()))),
                  "a Compressed level stores only the coordinates that occur");
}

}  // namespace spdistal
