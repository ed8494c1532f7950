#include "tensor/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/text.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "memory/copy.hpp"
#include "memory/out_of_memory.hpp"
#include "runtime/device/device.hpp"

namespace spdistal {

Pattern::Pattern(Format format, std::vector<int64_t> dims, std::vector<LevelArrays> levels)
    : format_(std::move(format)), dims_(std::move(dims)), levels_(std::move(levels)) {
  require(format_.order() == dims_.size() && levels_.size() == dims_.size(), "a pattern has one level per dimension");
  static std::atomic<uint64_t> next{1};
  version_ = next++;
}

size_t Pattern::bytes() const {
  size_t sum = 0;
  for (const LevelArrays& level : levels_)
    for (const auto& [name, array] : level.arrays) sum += array.bytes();
  return sum;
}

bool Pattern::is_lent() const {
  return std::ranges::any_of(levels_, [](const LevelArrays& level) {
    return std::ranges::any_of(level.arrays, [](const NamedArray& of_level) { return of_level.array.is_lent(); });
  });
}

Storage::Storage(PatternHandle pattern, ScalarType type)
    : Storage(pattern, type, Buffer::zeroed(size_t(pattern->nnz()) * size_of(type))) {}

Storage::Storage(PatternHandle pattern, ScalarType type, Buffer values)
    : pattern_(std::move(pattern)), type_(type), values_(std::make_shared<Values>(Values{std::move(values)})) {
  require(values_->buffer.size() >= size_t(nnz()) * size_of(type), "there is a value for every stored element");
}

Storage Storage::view() const { return Storage(pattern_, type_, values_); }

void Storage::make_room(size_t bytes, size_t front) const {
  Buffer& buffer = values_->buffer;
  if (bytes <= buffer.capacity() && front <= buffer.front()) return;
  if (std::exchange(values_->lent, false)) values_->before.push_back(buffer.owner());
  buffer.make_room(bytes, front);
}

void Storage::zero() { runtime::device_at(place()).fill(value_bytes(), std::byte(0), size_t(nnz()) * size_of(type_)); }

void Storage::fill(const Scalar& value) {
  bool zeros = with_type(type_, [&](auto nothing) { return value == Scalar(nothing); });
  if (zeros) return zero();
  require(value.type() == type_ && place().is_visible(), "values are filled with one of their type, on the host");
  std::visit(
      [&](const auto& v) {
        auto* bytes = reinterpret_cast<const std::byte*>(&v);
        memory::repeat_bytes(value_bytes(), {bytes, sizeof(v)}, size_t(nnz()) * sizeof(v));
      },
      static_cast<const ScalarVariant&>(value));
}

PatternHandle dense_pattern(const Format& format, const std::vector<int64_t>& dims, const std::vector<Range>& ranges,
                            ScalarType type, std::string_view what) {
  std::vector<LevelArrays> levels;
  int64_t positions = 1;
  for (int dim : format.mode_order()) {
    const Range& range = ranges[size_t(dim)];
    positions = checked_positions(positions, range.size(), size_of(type), what);
    levels.push_back({dims[size_t(dim)], range, positions});
  }
  return std::make_shared<const Pattern>(format, dims, std::move(levels));
}

void check_memory(const Format& format, std::span<const std::vector<Range>> pieces, ScalarType type, size_t taken) {
  // What lies below the first sparse level is not known yet: that one takes at least an index for each position above.
  double bytes = double(taken), largest = 0;
  for (const std::vector<Range>& ranges : pieces) {
    double positions = 1;
    size_t k = 0;
    for (; k < format.order() && has_places(format.levels()[k]); k++)
      positions *= double(ranges[size_t(format.mode_order()[k])].size());
    double piece = positions * double(k == format.order() ? size_of(type) : sizeof(int32_t));
    bytes += piece;
    largest = std::max(largest, piece);
  }
  // One that is too large by itself is refused where it is made, with the dimension.
  if (bytes <= double(physical_memory()) || largest > double(physical_memory())) return;
  throw UserError(
      fmt::format("storing a tensor densely in {} piece{} of one process takes {}, more than the {} of this "
                  "machine's memory",
                  pieces.size(), pieces.size() == 1 ? "" : "s", describe_bytes(bytes),
                  describe_bytes(double(physical_memory()))),
      "a Compressed level stores only the coordinates that occur; more ranks on more machines have more room");
}

namespace {

// Whether a level has the arrays that its format lists, of elements that can hold what they are for.
std::optional<std::string> named_as(const LevelFormat& format, const LevelArrays& level) {
  std::span<const LevelArray> wanted = format.arrays();
  auto same_name = [](const LevelArray& a, const NamedArray& b) { return a.name == b.name; };
  if (!std::equal(wanted.begin(), wanted.end(), level.arrays.begin(), level.arrays.end(), same_name))
    return fmt::format("has not the arrays that such a level has ({})",
                       wanted.empty() ? "none" : join(wanted, ", ", [](const LevelArray& a) { return a.name; }));
  for (size_t n = 0; n < wanted.size(); n++)
    if ((wanted[n].holds == Holds::Flags) != (level.arrays[n].array.width() == IndexWidth::Flag))
      return fmt::format("has elements of {} bytes in {}", int(level.arrays[n].array.width()), wanted[n].name);
  return std::nullopt;
}

}  // namespace

Result<> verify(const Pattern& pattern) {
  const std::vector<LevelArrays>& levels = pattern.levels();
  int64_t parents = 1;
  for (size_t k = 0; k < levels.size(); k++) {
    const LevelArrays& level = levels[k];
    auto refuse = [&](const std::string& message) {
      return Diagnostic{fmt::format("level {} ({}) {}", k, pattern.format().levels()[k].name(), message), {}, {}};
    };
    int64_t dim = pattern.dims()[size_t(pattern.format().mode_order()[k])];
    if (level.dim != dim) return refuse(fmt::format("has size {}, its dimension {}", level.dim, dim));
    if (level.range.lo < 0 || level.range.lo > level.range.hi || level.range.hi > dim)
      return refuse(fmt::format("covers [{}, {}) of [0, {})", level.range.lo, level.range.hi, dim));
    if (auto fault = named_as(pattern.format().levels()[k], level)) return refuse(*fault);
    LevelRun run{std::span(levels).subspan(k, run_length(pattern.format(), k)), parents};
    if (auto fault = functions_of(pattern.format().levels()[k]).verify(run)) return refuse(*fault);
    parents = level.positions;
  }
  return {};
}

Result<> verify(const Storage& storage) { return verify(storage.pattern()); }

bool same_pattern(const Pattern& a, const Pattern& b) {
  auto same = [](const NamedArray& of_a, const NamedArray& of_b) {
    const IndexArray &x = of_a.array, &y = of_b.array;
    if (x.size() != y.size() || x.width() != y.width()) return false;
    return x.data() == y.data() || x.empty() || memory::same_bytes(x.data(), y.data(), x.bytes());
  };
  if (&a == &b) return true;
  if (!(a.format() == b.format()) || a.dims() != b.dims()) return false;
  for (size_t k = 0; k < a.order(); k++) {
    const LevelArrays &x = a.level(k), &y = b.level(k);
    if (!(x.range == y.range) || x.positions != y.positions ||
        !std::equal(x.arrays.begin(), x.arrays.end(), y.arrays.begin(), y.arrays.end(), same))
      return false;
  }
  return true;
}

}  // namespace spdistal
