#include <fmt/format.h>

#include <algorithm>

#include "spdistal/error.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal {

namespace {

std::string text_of(const Window& window) { return window.text(window.of ? window.of->name() : ""); }

// Of what was computed: a window counts from 0 on, in steps forwards.
void check(const Window& window) {
  std::string name = window.of && !window.of->name().empty() ? window.of->name() : "i";
  if (window.offset < 0 && window.of)
    throw UserError(fmt::format("{} - {} is before the first coordinate where {} is 0", name, -window.offset, name),
                    fmt::format("count from the other end: shift the other accesses, a({} + {}) beside b({})", name,
                                -window.offset, name));
  if (window.offset < 0)
    throw UserError(fmt::format("there is no coordinate {}", window.offset), "coordinates are counted from 0");
  if (window.of && window.stride < 1)
    throw UserError(fmt::format("a stride of {} leads nowhere", window.stride), "a stride is 1 or more");
  if (window.end && *window.end < window.offset)
    throw UserError(fmt::format("the window {} ends before it begins", window.text(name)),
                    fmt::format("a window is written {}(first, end), and holds the coordinates before its end", name));
}

struct ShiftedIndex {
  std::optional<IndexVar> of;
  int64_t offset, stride;
};
ShiftedIndex shifted(const IndexVar& i) {
  const Window* window = i.window();
  if (!window) return {i, 0, 1};
  if (window->end)
    throw UserError(fmt::format("the window {} cannot be shifted", text_of(*window)),
                    "say its coordinates as they are: i(first, end, stride)");
  return {window->of, window->offset, window->stride};
}

int64_t exactly(bool overflows, int64_t value) {
  if (overflows) throw UserError("a window lies beyond all coordinates", "coordinates are below 2^63");
  return value;
}

}  // namespace

IndexVar::IndexVar(Window window)
    : Symbol(text_of(window)), window_(std::make_shared<const Window>(std::move(window))) {
  check(*window_);
}

IndexVar::Key IndexVar::key_of_window() const {
  return {window_->of ? window_->of->id() : 0, window_->offset, window_->stride, window_->end.value_or(-1)};
}

IndexVar IndexVar::operator()(int64_t first, int64_t end, int64_t stride) const {
  if (window_)
    throw UserError(fmt::format("{} is a window already", name()), "take a window of a variable: i(first, end)");
  return IndexVar(Window{*this, first, stride, end});
}

IndexVar IndexVar::at(int64_t coordinate) { return IndexVar(Window{std::nullopt, coordinate, 0}); }

IndexVar operator+(const IndexVar& i, int64_t offset) {
  if (offset == 0) return i;
  ShiftedIndex window = shifted(i);
  bool overflows = __builtin_add_overflow(window.offset, offset, &window.offset);
  return IndexVar(Window{window.of, exactly(overflows, window.offset), window.stride});
}

IndexVar operator-(const IndexVar& i, int64_t offset) {
  int64_t negated = 0;
  bool overflows = __builtin_sub_overflow(int64_t(0), offset, &negated);
  return i + exactly(overflows, negated);
}

IndexVar operator*(int64_t stride, const IndexVar& i) {
  if (stride == 1) return i;
  ShiftedIndex window = shifted(i);
  bool overflows = __builtin_mul_overflow(window.offset, stride, &window.offset) ||
                   __builtin_mul_overflow(window.stride, stride, &window.stride);
  exactly(overflows, 0);
  return IndexVar(Window{window.of, window.offset, window.stride});
}

int64_t Window::count(int64_t size) const {
  int64_t last = std::min(size, end.value_or(size));
  if (last <= offset) return 0;
  return stride == 0 ? 1 : (last - offset - 1) / stride + 1;
}

IndexVar Window::over(const IndexVar& var) const {
  if (!of) return IndexVar::at(offset);
  if (end) return var(offset, *end, stride);
  // All of a dimension is a window too, where that may have more coordinates than the variable has values.
  return offset == 0 && stride == 1 ? (var + 1) - 1 : stride * var + offset;
}

std::string Window::text(const std::string& name) const {
  if (!of) return fmt::format("{}", offset);
  if (end)
    return stride == 1 ? fmt::format("{}({},{})", name, offset, *end)
                       : fmt::format("{}({},{},{})", name, offset, *end, stride);
  std::string scaled = stride == 1 ? name : fmt::format("{}*{}", stride, name);
  return offset == 0 ? scaled : fmt::format("{}+{}", scaled, offset);
}

}  // namespace spdistal
