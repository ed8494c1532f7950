#include "runtime/region/selection.hpp"

#include <algorithm>
#include <span>

#include "memory/copy.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal::runtime {
namespace {

/// Runs shorter than this on average are cheaper as lists of places.
constexpr int64_t short_run = 4;

/// Opaque elements of each size, so that lists of places are walked with plain loads and stores.
template <class F>
void with_element(size_t size, F&& f) {
  struct Pair {
    uint64_t a, b;
  };
  switch (size) {
    case 1: return f(uint8_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Pair{});
  }
}

void add_run(std::vector<Run>& runs, int64_t offset, int64_t length) {
  if (!runs.empty() && runs.back().offset + runs.back().length == offset) runs.back().length += length;
  else runs.push_back({offset, length});
}

std::vector<Run> runs_of(const Layout& layout, const Space& set) {
  std::vector<Run> runs;
  layout.for_each_run(set, [&](int64_t offset, int64_t length) { add_run(runs, offset, length); });
  return runs;
}

}  // namespace

Selection::Selection(const Layout& layout, const Space& set, ScalarType type)
    : type_(type), is_narrow_(layout.extent() <= INT32_MAX) {
  runs_ = runs_of(layout, set);
  for (const Run& run : runs_) count_ += run.length;
  if (runs_.size() == 1) single_ = runs_[0];
  if (runs_.size() <= 1 || count_ / int64_t(runs_.size()) >= short_run) return;
  auto list = [&](auto& places) {
    places.reserve(size_t(count_));
    for (const Run& run : runs_)
      for (int64_t k = 0; k < run.length; k++) places.push_back(decltype(places[0] + 0)(run.offset + k));
  };
  if (is_narrow_) list(narrow_);
  else list(wide_);
  runs_ = {};
}

Buffer Selection::places() const {
  auto listed = [&](auto zero, const auto& list) {
    using I = decltype(zero);
    Buffer out = Buffer::uninitialized(size_t(count_) * sizeof(I));
    I* place = reinterpret_cast<I*>(out.data());
    for (const Run& run : runs_)
      for (int64_t k = 0; k < run.length; k++) *place++ = I(run.offset + k);
    for (auto there : list) *place++ = I(there);
    return out;
  };
  return is_narrow_ ? listed(int32_t(), narrow_) : listed(int64_t(), wide_);
}

// runs(offset, length) for stretches, or places(list) for places one by one.
template <class Runs, class Places>
Selection::Cursor Selection::walk(Cursor at, int64_t count, Runs&& runs, Places&& places) const {
  auto first = size_t(at.element);
  at.element += count;
  if (!narrow_.empty()) places(std::span(narrow_).subspan(first, size_t(count)));
  else if (!wide_.empty()) places(std::span(wide_).subspan(first, size_t(count)));
  else
    while (count > 0) {
      const Run& run = runs_[at.run];
      int64_t length = std::min(count, run.length - at.in_run);
      runs(run.offset + at.in_run, length);
      count -= length;
      if ((at.in_run += length) == run.length) at.run++, at.in_run = 0;
    }
  return at;
}

Selection::Cursor Selection::gather_next(const std::byte* memory, std::byte* to, Cursor at, int64_t count) const {
  size_t size = size_of(type_);
  auto copy = [&](int64_t offset, int64_t length) {
    memory::copy_bytes(to, memory + size_t(offset) * size, size_t(length) * size);
    to += size_t(length) * size;
  };
  return walk(at, count, copy, [&](auto places) {
    with_element(size, [&](auto element) {
      using E = decltype(element);
      const E* from = reinterpret_cast<const E*>(memory);
      E* out = reinterpret_cast<E*>(to);
      for (auto place : places) *out++ = from[place];
    });
  });
}

Selection::Cursor Selection::scatter_next(const std::byte* from, std::byte* memory, Cursor at, int64_t count) const {
  size_t size = size_of(type_);
  auto copy = [&](int64_t offset, int64_t length) {
    memory::copy_bytes(memory + size_t(offset) * size, from, size_t(length) * size);
    from += size_t(length) * size;
  };
  return walk(at, count, copy, [&](auto places) {
    with_element(size, [&](auto element) {
      using E = decltype(element);
      const E* in = reinterpret_cast<const E*>(from);
      E* out = reinterpret_cast<E*>(memory);
      for (auto place : places) out[place] = *in++;
    });
  });
}

Selection::Cursor Selection::combine_next(const std::byte* from, std::byte* memory, ReduceOp op, Cursor at,
                                          int64_t count) const {
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    const T* in = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(memory);
    with_op(op, [&](auto how) {
      auto meet = [&](T& there) { there = combined<decltype(how)::value>(there, *in++); };
      auto stretch = [&](int64_t offset, int64_t length) {
        for (int64_t k = 0; k < length; k++) meet(out[offset + k]);
      };
      at = walk(at, count, stretch, [&](auto places) {
        for (auto place : places) meet(out[place]);
      });
    });
  });
  return at;
}

LocalCopy::LocalCopy(const Layout& from, const Layout& to, const Space& set, ScalarType type)
    : type_(type), element_(size_of(type)) {
  std::vector<Run> sources = runs_of(from, set), targets = runs_of(to, set);
  size_t i = 0, j = 0;
  int64_t i_done = 0, j_done = 0;
  while (i < sources.size()) {
    int64_t length = std::min(sources[i].length - i_done, targets[j].length - j_done);
    Step step{sources[i].offset + i_done, targets[j].offset + j_done, length};
    steps_.push_back(step);
    in_place_ = in_place_ && step.from == step.to;
    bytes_ += length * int64_t(element_);
    if ((i_done += length) == sources[i].length) i++, i_done = 0;
    if ((j_done += length) == targets[j].length) j++, j_done = 0;
  }
}

void LocalCopy::combine(const std::byte* from, std::byte* to, ReduceOp op) const {
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    with_op(op, [&](auto how) {
      for (const Step& step : steps_) {
        const T* in = reinterpret_cast<const T*>(from) + step.from;
        T* out = reinterpret_cast<T*>(to) + step.to;
        for (int64_t k = 0; k < step.length; k++) out[k] = combined<decltype(how)::value>(out[k], in[k]);
      }
    });
  });
}

void LocalCopy::run(const std::byte* from, std::byte* to) const {
  with_element(element_, [&](auto element) {
    using E = decltype(element);
    for (const Step& step : steps_) {
      if (step.length > 8) {
        memory::copy_bytes(to + size_t(step.to) * element_, from + size_t(step.from) * element_,
                           size_t(step.length) * element_);
      } else {
        const E* in = reinterpret_cast<const E*>(from) + step.from;
        E* out = reinterpret_cast<E*>(to) + step.to;
        for (int64_t k = 0; k < step.length; k++) out[k] = in[k];
      }
    }
  });
}

}  // namespace spdistal::runtime
