#include "spdistal/machine.hpp"

#include <fmt/format.h>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

constexpr int64_t most_processors = int64_t(1) << 20;  // each has pieces of its own, which take time to plan for

std::string dim_name(size_t level, size_t dim) {
  static constexpr std::string_view letters[] = {"x", "y", "z"};
  std::string machine = level == 0 ? "M" : fmt::format("M[{}]", level);
  return dim < 3 ? fmt::format("{}.{}", machine, letters[dim]) : fmt::format("{}.dim({})", machine, dim);
}

}  // namespace

void Grid::check() const {
  if (extents_.empty()) throw UserError("a grid needs at least one dimension", "write Grid(4) for four processors");
  for (const Extent& extent : extents_)
    if (extent.value() == 0)
      throw UserError("a grid dimension of 0 holds no processor", "write Grid(1) for a single processor");
}

const Extent& GridDim::extent() const {
  const std::vector<Grid>& levels = *levels_;
  if (level_ >= levels.size())
    throw UserError(fmt::format("{}: the machine has {} level{}", str(), levels.size(), levels.size() == 1 ? "" : "s"),
                    levels.size() == 1 ? "a machine of two levels is Machine(Grid(2), Grid(4)), or -m 2/4" : "");
  const std::vector<Extent>& extents = levels[level_].extents();
  if (dim_ >= extents.size())
    throw UserError(
        fmt::format("{}: the machine's grid has {} dimension{}", str(), extents.size(), extents.size() == 1 ? "" : "s"),
        fmt::format("its last dimension is {}", dim_name(level_, extents.size() - 1)));
  return extents[dim_];
}

std::string GridDim::str() const { return dim_name(level_, dim_); }

const Extent& Pieces::extent() const { return grid_dim() ? grid_dim()->extent() : std::get<Extent>(size_); }

Machine::Machine(std::vector<Grid> levels)
    : levels_(std::make_shared<const std::vector<Grid>>(std::move(levels))),
      x(levels_, 0, 0),
      y(levels_, 0, 1),
      z(levels_, 0, 2) {
  if (levels_->empty()) throw UserError("a machine needs at least one grid");
  int64_t processors = 1;
  for (const Grid& grid : *levels_)
    for (const Extent& extent : grid.extents())
      if (__builtin_mul_overflow(processors, extent.value().value_or(1), &processors) || processors > most_processors)
        throw UserError(fmt::format("the machine has more than {} processors", most_processors),
                        "where it has more points than there are ranks, a rank has several pieces");
}

Machine::Level Machine::operator[](size_t level) const {
  return {{levels_, level, 0}, {levels_, level, 1}, {levels_, level, 2}};
}

GridDim Machine::dim(size_t dim, size_t level) const {
  GridDim out(levels_, level, dim);
  out.extent();
  return out;
}

}  // namespace spdistal
