#include "generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "generate/hash.hpp"
#include "generate/kinds.hpp"
#include "tensor/iterate.hpp"
#include "tensor/sort.hpp"

namespace spdistal {
namespace {

const std::vector<const GeneratorKind*>& all_generators() {
  static const std::vector<const GeneratorKind*> list{&banded,    &uniform,     &rmat,      &mycielskian, &stencil7,
                                                      &stencil27, &nlpkkt,      &kmer,      &powerlaw,    &ones,
                                                      &zeros,     &random_fill, &index_fill};
  return list;
}

std::vector<int> identity(size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Entries in order, each once; values are made later.
Coordinates without_duplicates(Coordinates entries) {
  std::vector<int> order = identity(entries.order());  // before it is moved away: arguments come in any order
  return sort_and_merge(std::move(entries), order);
}

void check_memory(const Generator& generator, const std::vector<int64_t>& dims, double entries, GeneratedPart part) {
  double bytes = entries / double(part.of) * 8 * double(dims.size() + 1);
  if (bytes > double(physical_memory()))
    throw UserError(fmt::format("generating '{}' takes {}, more than the {} of this machine's memory",
                                generator.kind().name, describe_bytes(bytes),
                                describe_bytes(double(physical_memory()))));
}

// Values that are functions of the coordinates.
void set_random_values(Coordinates& entries, uint64_t seed) {
  std::span<double> values = entries.values<double>();
  size_t order = entries.order();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (entries.size() > 100000)
  for (int64_t e = 0; e < entries.size(); e++) {
    uint64_t key = uint64_t(entries.column(0)[size_t(e)]);
    for (size_t d = 1; d < order; d++)
      key = (order == 2 ? key << 32 : key * uint64_t(entries.dims()[d])) + uint64_t(entries.column(d)[size_t(e)]);
    values[size_t(e)] = element_value(seeded(seed, key));
  }
}

Coordinates with_type_of(Coordinates entries, ScalarType type, GeneratorKind::Values kind) {
  if (type == ScalarType::Float64) return entries;
  if (kind == GeneratorKind::Values::Random && is_integral(type))  // [0.5, 1.5) as 1 … 9
    for (double& value : entries.values<double>()) value = 1 + std::floor((value - 0.5) * 9);
  return std::move(entries).converted(type);
}

template <class T>
T fill_element(double value, const GeneratorKind& kind) {
  if constexpr (std::is_integral_v<T>)  // [0, 1) as 0 … 9
    if (kind.values == GeneratorKind::Values::Random) return convert_value<T>(std::floor(value * 10));
  return convert_value<T>(value);
}

// The last element of a fill is its largest.
template <class T>
void check_fits(const Generator& generator, uint64_t elements) {
  if (generator.kind().values == GeneratorKind::Values::Random || elements == 0) return;
  double last = generator.kind().element(generator.arguments(), elements - 1);
  if (!fits<T>(last))
    throw UserError(fmt::format("the fill '{}' comes to {}, which does not fit {}", generator.kind().name, last,
                                name_of(scalar_type_of<T>())),
                    "give the tensor a type that holds all its values");
}

uint64_t volume_of(const std::vector<int64_t>& dims) {
  uint64_t volume = 1;
  for (int64_t dim : dims) volume *= uint64_t(dim);
  return volume;
}

}  // namespace

Generator Generator::parse(std::string_view text) {
  size_t comma = std::min(text.find(','), text.size());
  std::string_view name = trim(text.substr(0, comma));
  std::vector<std::string> names;
  for (const GeneratorKind* kind : all_generators()) {
    if (kind->name == name)
      return Generator(kind,
                       Arguments::parse(text, comma, kind->parameters, fmt::format("it is written {}", kind->usage)));
    names.emplace_back(kind->name);
  }
  throw UserError(Diagnostic{fmt::format("there is no generator '{}'", name),
                             {{std::string(text), 0, comma}},
                             suggest(name, names, "the generators are")});
}

bool Generator::is_fill() const { return kind_->element != nullptr; }

std::vector<int64_t> Generator::dims() const {
  require(!is_fill(), "a fill has the sizes of its tensor");
  return kind_->dims(arguments_);
}

Coordinates generate(const Generator& generator, ScalarType type, GeneratedPart part) {
  require(!generator.is_fill() && part.of > 0 && part.number >= 0 && part.number < part.of, "a part is one of several");
  const GeneratorKind& kind = generator.kind();
  std::vector<int64_t> dims = generator.dims();
  check_memory(generator, dims, kind.entries(generator.arguments()), part);
  Range rows = block(dims[0], part.of, part.number);
  Coordinates out(dims, ScalarType::Float64);
  kind.rows(generator.arguments(), rows, out);
  if (kind.duplicates == GeneratorKind::Duplicates::Dropped) out = without_duplicates(std::move(out));
  if (kind.values == GeneratorKind::Values::Random) set_random_values(out, generator.arguments().seed());
  return with_type_of(std::move(out), type, kind.values);
}

Coordinates generate_fill(const Generator& generator, const std::vector<int64_t>& dims, ScalarType type,
                          GeneratedPart part) {
  const GeneratorKind& kind = generator.kind();
  require(generator.is_fill(), "only fills take the sizes of a tensor");
  double volume = 1;
  for (int64_t dim : dims) volume *= double(dim);
  check_memory(generator, dims, volume, part);
  Coordinates out(dims, type);
  Range rows = dims.empty() ? Range{0, part.number == 0} : block(dims[0], part.of, part.number);
  int64_t below = 1;
  for (size_t d = 1; d < dims.size(); d++) below *= dims[d];
  out.resize(rows.size() * below);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    check_fits<T>(generator, volume_of(dims));
    std::span<T> values = out.values<T>();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (out.size() > 100000)
    for (int64_t e = 0; e < out.size(); e++) {
      uint64_t number = uint64_t(rows.lo) * uint64_t(below) + uint64_t(e);
      values[size_t(e)] = fill_element<T>(kind.element(generator.arguments(), number), kind);
      int64_t rest = int64_t(number);
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) out.column(d)[size_t(e)] = rest % dims[d];
    }
  });
  return out;
}

void fill(Storage& storage, const Generator& generator) {
  const GeneratorKind& kind = generator.kind();
  require(generator.is_fill(), "tensors are filled by fills");
  with_type(storage.type(), [&](auto zero) {
    using T = decltype(zero);
    check_fits<T>(generator, volume_of(storage.dims()));
    std::span<T> values = storage.values<T>();
    const Pattern& pattern = storage.pattern();
    auto value = [&](uint64_t number) { return fill_element<T>(kind.element(generator.arguments(), number), kind); };
    // A whole dense tensor stored row by row: the number of an element is its position.
    bool plain = storage.format().is_dense() && storage.format().mode_order() == identity(storage.order());
    for (const LevelArrays& level : pattern.levels()) plain &= level.range == Range{0, level.dim};
    if (plain) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (storage.nnz() > 100000)
      for (int64_t p = 0; p < storage.nnz(); p++) values[size_t(p)] = value(uint64_t(p));
      return;
    }
    for_each_position(pattern, [&](std::span<const int64_t> at, int64_t position) {
      uint64_t number = 0;
      for (size_t d = 0; d < at.size(); d++) number = number * uint64_t(storage.dims()[d]) + uint64_t(at[d]);
      values[size_t(position)] = value(number);
    });
  });
}

std::string describe_generators() {
  std::string out;
  for (const GeneratorKind* kind : all_generators()) out += fmt::format("{:<58} {}\n", kind->usage, kind->what);
  return out;
}

}  // namespace spdistal
