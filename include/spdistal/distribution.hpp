// Tensor distribution notation: where the parts of a tensor live (paper, section II.B). The dimensions of a tensor and
// of a machine are given names; a tensor dimension whose name a machine dimension bears is partitioned by it.
//
//   Distribution({x, y}, M, {x})                       rows in blocks               B(x,y) -> M(x)
//   Distribution({x, y}, M, {y})                       columns in blocks            B(x,y) -> M(y)
//   Distribution({x}, M, {y})                          a copy on every processor    c(x) -> M(y)
//   Distribution({x, y}, M, {x, 0})                    rows, on the first column of processors
//   Distribution({x}, M, {~x})                         equal shares of the stored coordinates
//   Distribution({x, y}, fuse({x, y}, f), M, {~f})     equal shares of the non-zeros
//   Distribution({x, y}, M2, {x}).then({y})            rows over nodes, columns over the processors of a node
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "spdistal/machine.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal {

/// A name for a dimension in tensor distribution notation.
class DistVar : public Symbol {
 public:
  using Symbol::Symbol;
};

/// `~x`: partition the stored coordinates of x evenly instead of its universe.
struct NonZero {
  DistVar var;
  bool operator==(const NonZero&) const = default;
};
inline NonZero operator~(DistVar x) { return {std::move(x)}; }

/// What a machine dimension is used for: blocks of a tensor dimension (or, where no dimension has that name,
/// replication), equal shares of stored coordinates, or one fixed coordinate.
class Placement {
 public:
  Placement(DistVar x) : what_(std::move(x)) {}
  Placement(NonZero x) : what_(std::move(x)) {}
  template <std::integral I>
  Placement(I coordinate) : what_(int64_t(coordinate)) {}

  const std::variant<DistVar, NonZero, int64_t>& what() const { return what_; }
  /// The name it mentions, if any.
  const DistVar* var() const;
  bool operator==(const Placement&) const = default;

 private:
  std::variant<DistVar, NonZero, int64_t> what_;
};

/// Several dimensions taken together as one: `fuse({x, y}, f)`.
struct DistFusion {
  std::vector<DistVar> vars;
  DistVar fused;
  bool operator==(const DistFusion&) const = default;
};
inline DistFusion fuse(std::vector<DistVar> vars, DistVar fused) { return {std::move(vars), std::move(fused)}; }

class Distribution {
 public:
  /// One placement for each dimension of the machine's outermost grid.
  Distribution(std::vector<DistVar> dims, Machine machine, std::vector<Placement> placements);
  Distribution(std::vector<DistVar> dims, DistFusion fusion, Machine machine, std::vector<Placement> placements);
  Distribution(std::vector<DistVar> dims, std::vector<DistFusion> fusions, Machine machine,
               std::vector<std::vector<Placement>> levels);

  /// The same, with the placements of the machine's next level added.
  Distribution then(std::vector<Placement> placements) const;

  const std::vector<DistVar>& dims() const { return dims_; }
  const std::vector<DistFusion>& fusions() const { return fusions_; }
  const Machine& machine() const { return machine_; }
  const std::vector<std::vector<Placement>>& levels() const { return levels_; }
  /// The tensor dimensions that a name stands for: one, several where it is fused, none where it replicates.
  std::vector<size_t> dims_of(const DistVar& var) const;
  bool operator==(const Distribution&) const = default;

 private:
  void check() const;

  std::vector<DistVar> dims_;
  std::vector<DistFusion> fusions_;
  Machine machine_;
  std::vector<std::vector<Placement>> levels_;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::DistVar> : std::hash<spdistal::Symbol> {};
