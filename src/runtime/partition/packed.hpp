// Sets as bytes, for messages: the number of rectangles and their sides.
#pragma once
#include "runtime/space/space.hpp"
#include "runtime/transport/bytes.hpp"

namespace spdistal::runtime {

inline void put(Writer& out, const Space& set) {
  out.put(set.rect_count());
  out.put_all(set.sides());
}

inline Space take_space(Reader& in, int dims) {
  size_t rects = in.take<size_t>();
  if (dims == 0) return rects > 0 ? Space(Rect{}) : Space(0);
  return Space::from_canonical(dims, in.take_all<Range>(rects * size_t(dims)));
}

}  // namespace spdistal::runtime
