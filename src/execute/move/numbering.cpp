#include "execute/move/numbering.hpp"

#include <algorithm>

#include "base/threads.hpp"
#include "memory/array.hpp"

namespace spdistal {

using runtime::Axis;

Axis Numbering::axis() const {
  if (around) return {{{*around, 0}}, around->size()};
  Axis out{{}, places().size()};
  int64_t next = behind;
  bool placed = home.size() == 0;
  auto place_home = [&] {
    if (!placed) out.runs.push_back({home, 0});
    placed = true;
  };
  for (const Range& run : ghosts.sides()) {
    if (run.lo >= home.lo) place_home();
    out.runs.push_back({run, next});
    next += run.size();
  }
  place_home();
  return out;
}

namespace {

// f(coordinate) for all of an array, in parallel.
template <class F>
IndexArray mapped(const IndexArray& coordinates, int64_t size, F&& f) {
  return IndexArray::make(coordinates.size(), width_for(size), [&](auto* out) {
    coordinates.visit([&](auto in) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (in.size() > 10000)
      for (size_t k = 0; k < in.size(); k++) out[k] = std::remove_reference_t<decltype(*out)>(f(int64_t(in[k])));
    });
  });
}

}  // namespace

// By a table where that is hardly larger than the array, else by search.
IndexArray Numbering::operator()(const IndexArray& coordinates) const {
  Axis all = axis();
  if (around || all.runs.empty()) return coordinates;
  Range hull{all.runs.front().range.lo, all.runs.back().range.hi};
  if (hull.size() / 8 > coordinates.size())
    return mapped(coordinates, all.size, [&](int64_t x) {
      auto run = std::ranges::upper_bound(all.runs, x, {}, [](const Axis::Run& r) { return r.range.hi; });
      return run->first + (x - run->range.lo);
    });
  auto by_table = [&]<class I>(I) {
    memory::Array<I> table(hull.size());
    I* number = table.data();
    for (const Axis::Run& run : all.runs)
      for (int64_t x = run.range.lo; x < run.range.hi; x++) number[x - hull.lo] = I(run.first + (x - run.range.lo));
    return mapped(coordinates, all.size, [&](int64_t x) { return number[x - hull.lo]; });
  };
  return width_for(all.size) == IndexWidth::Int32 ? by_table(int32_t()) : by_table(int64_t());
}

}  // namespace spdistal
