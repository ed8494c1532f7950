// Sizes: plain integers, or parameters that get their value later.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "spdistal/symbol.hpp"

namespace spdistal {

/// A symbolic size. `Param n; Tensor<double> a({n}, f); n = 1000;` — or the data read into a tensor binds it. Copies
/// are the same parameter.
class Param {
 public:
  explicit Param(std::string name = {}) : state_(std::make_shared<State>(State{Symbol(std::move(name)), {}})) {}

  /// Binds the parameter. Throws UserError for a negative size.
  template <std::integral I>
  Param& operator=(I value) {
    bind(int64_t(value));
    return *this;
  }
  void bind(int64_t value);

  const std::optional<int64_t>& value() const { return state_->value; }
  const Symbol& symbol() const { return state_->symbol; }

  friend bool operator==(const Param& a, const Param& b) { return a.state_ == b.state_; }

 private:
  struct State {
    Symbol symbol;
    std::optional<int64_t> value;
  };
  std::shared_ptr<State> state_;
};

/// A size: an integer or a Param. Either goes wherever an Extent is wanted.
class Extent {
 public:
  template <std::integral I>
  Extent(I value) : Extent(checked(int64_t(value))) {}
  Extent(Param param) : size_(std::move(param)) {}

  /// The number, where it is known by now.
  std::optional<int64_t> value() const {
    if (auto* number = std::get_if<int64_t>(&size_)) return *number;
    return std::get<Param>(size_).value();
  }
  /// The parameter, where it is one.
  const Param* param() const { return std::get_if<Param>(&size_); }
  /// A plain integer in the program text: kernels may be specialised to it.
  bool is_literal() const { return size_.index() == 0; }

  friend bool operator==(const Extent&, const Extent&) = default;

 private:
  struct Checked {
    int64_t value;
  };
  static Checked checked(int64_t value);
  Extent(Checked number) : size_(number.value) {}

  std::variant<int64_t, Param> size_;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::Param> {
  size_t operator()(const spdistal::Param& p) const { return std::hash<spdistal::Symbol>{}(p.symbol()); }
};
template <>
struct std::hash<spdistal::Extent> {
  size_t operator()(const spdistal::Extent& e) const {
    return e.param() ? std::hash<spdistal::Param>{}(*e.param()) : std::hash<int64_t>{}(*e.value());
  }
};
