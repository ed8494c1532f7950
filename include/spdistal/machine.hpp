// Machines: grids of processors, one inside the other.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "spdistal/extent.hpp"

namespace spdistal {

enum class Processor : uint8_t { CPU, GPU };
inline constexpr Processor CPU = Processor::CPU, GPU = Processor::GPU;

/// A grid of processors of any order: `Grid(4)`, `Grid(2, 3)`, `Grid(4, GPU)`, `Grid(p)` with a Param.
class Grid {
 public:
  template <class... Args>
    requires(sizeof...(Args) > 0 &&
             ((std::convertible_to<Args, Extent> || std::same_as<std::remove_cvref_t<Args>, Processor>)&&...))
  explicit Grid(const Args&... args) {
    (add(args), ...);
    check();
  }
  explicit Grid(std::vector<Extent> extents, Processor kind = CPU) : extents_(std::move(extents)), kind_(kind) {
    check();
  }

  const std::vector<Extent>& extents() const { return extents_; }
  Processor kind() const { return kind_; }
  bool operator==(const Grid&) const = default;

 private:
  void add(const Extent& extent) { extents_.push_back(extent); }
  void add(Processor kind) { kind_ = kind; }
  void check() const;

  std::vector<Extent> extents_;
  Processor kind_ = CPU;
};

class Machine;

/// One dimension of one level of a machine, such as `M.x` or `M[1].y`; its size may be known only later.
class GridDim {
 public:
  size_t level() const { return level_; }
  size_t dim() const { return dim_; }
  /// The size of that dimension. Throws UserError where the machine has no such dimension.
  const Extent& extent() const;
  /// "M.x", "M[1].y".
  std::string str() const;
  const std::vector<Grid>& machine() const { return *levels_; }

  friend bool operator==(const GridDim&, const GridDim&) = default;

 private:
  friend class Machine;
  GridDim(std::shared_ptr<const std::vector<Grid>> levels, size_t level, size_t dim)
      : levels_(std::move(levels)), level_(level), dim_(dim) {}
  std::shared_ptr<const std::vector<Grid>> levels_;
  size_t level_, dim_;
};

/// A machine: a grid, or grids within grids. `Machine M{Grid(pieces)}`, `Machine(Grid(2), GPU)`,
/// `Machine(Grid(nodes), Grid(4, GPU))`. Copies are the same machine.
class Machine {
  std::shared_ptr<const std::vector<Grid>> levels_;  // first: the dimensions below refer to it

 public:
  explicit Machine(Grid grid) : Machine(std::vector{std::move(grid)}) {}
  Machine(const Grid& grid, Processor kind) : Machine(Grid(grid.extents(), kind)) {}
  template <std::same_as<Grid>... More>
    requires(sizeof...(More) > 0)
  explicit Machine(Grid outer, More... inner) : Machine(std::vector{std::move(outer), std::move(inner)...}) {}
  explicit Machine(std::vector<Grid> levels);

  const std::vector<Grid>& levels() const { return *levels_; }
  /// The dimensions of one level; levels count from the outermost.
  struct Level {
    GridDim x, y, z;
  };
  Level operator[](size_t level) const;
  /// Any dimension of any level, by number. Throws UserError where there is none.
  GridDim dim(size_t dim, size_t level = 0) const;

  /// The first three dimensions of the outermost grid.
  GridDim x, y, z;

  friend bool operator==(const Machine& a, const Machine& b) { return a.levels_ == b.levels_; }
};

/// A number of pieces: an integer, a Param, or a dimension of a machine.
class Pieces {
 public:
  template <std::integral I>
  Pieces(I n) : size_(Extent(n)) {}
  Pieces(Param p) : size_(Extent(std::move(p))) {}
  Pieces(Extent e) : size_(std::move(e)) {}
  Pieces(GridDim d) : size_(std::move(d)) {}

  const GridDim* grid_dim() const { return std::get_if<GridDim>(&size_); }
  const Extent& extent() const;
  std::optional<int64_t> value() const { return extent().value(); }
  friend bool operator==(const Pieces&, const Pieces&) = default;

 private:
  std::variant<Extent, GridDim> size_;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::Pieces> {
  size_t operator()(const spdistal::Pieces& p) const {
    return p.grid_dim() ? p.grid_dim()->dim() * 31 + p.grid_dim()->level() : std::hash<spdistal::Extent>{}(p.extent());
  }
};
