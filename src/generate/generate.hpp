// Matrices and tensors made on the spot: "rmat,20,16", "banded,1000000,11", "ones". Each is determined by its text
// alone: any number of parts, made anywhere, put together give the same tensor.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generate/arguments.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

struct GeneratorKind;

/// One of several parts: blocks of the first dimension.
struct GeneratedPart {
  int64_t number = 0, of = 1;
};

class Generator {
 public:
  /// Throws UserError that names the generators, or what the one named takes.
  static Generator parse(std::string_view text);

  const GeneratorKind& kind() const { return *kind_; }
  const Arguments& arguments() const { return arguments_; }
  /// Dense fills have the sizes of the tensor they fill; all others have their own.
  bool is_fill() const;
  /// The sizes of the tensor. Not for fills.
  std::vector<int64_t> dims() const;

 private:
  Generator(const GeneratorKind* kind, Arguments arguments) : kind_(kind), arguments_(std::move(arguments)) {}
  const GeneratorKind* kind_;
  Arguments arguments_;
};

/// The entries whose first coordinate lies in block `part.number` of `part.of`: each coordinate once.
Coordinates generate(const Generator& generator, ScalarType type, GeneratedPart part = {});
/// The same for a fill: every element of a tensor of these sizes.
Coordinates generate_fill(const Generator& generator, const std::vector<int64_t>& dims, ScalarType type,
                          GeneratedPart part = {});
/// Sets all stored values of a tensor or a piece to those of a fill.
void fill(Storage& storage, const Generator& generator);

/// Every generator with what it takes, a line each: for help.
std::string describe_generators();

}  // namespace spdistal
