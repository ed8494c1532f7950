// Test support: the arrays of levels that list coordinates, as parameters of kernels built by hand.
#pragma once
#include <string>
#include <utility>

#include "ir/build.hpp"

namespace spdistal::testing {

inline ir::Var pos_array(ir::FunctionBuilder& f, std::string name, int t, int level, ScalarType width,
                         ir::Access access = ir::Access::Read) {
  return f.level_array(std::move(name), {ir::Source::Field::Segments, t, level, 0, "pos"}, width, access);
}
inline ir::Var crd_array(ir::FunctionBuilder& f, std::string name, int t, int level, ScalarType width,
                         ir::Access access = ir::Access::Read) {
  return f.level_array(std::move(name), {ir::Source::Field::Coordinates, t, level, 1, "crd"}, width, access);
}

}  // namespace spdistal::testing
