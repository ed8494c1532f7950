// Expected refusals as values: a Result holds what was asked for, or the Diagnostic that says why not. Functions inside
// the compiler return it; the public face turns a refusal into a UserError.
#pragma once
#include <optional>
#include <utility>
#include <variant>

#include "spdistal/error.hpp"

namespace spdistal {

template <class T = void>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Diagnostic refusal) : state_(std::move(refusal)) {}

  explicit operator bool() const { return state_.index() == 0; }
  const Diagnostic& refusal() const { return std::get<1>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T& operator*() { return std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  /// The value, or the refusal thrown as a UserError.
  T value() && {
    if (!*this) throw UserError(refusal());
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Diagnostic> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diagnostic refusal) : refusal_(std::move(refusal)) {}

  explicit operator bool() const { return !refusal_; }
  const Diagnostic& refusal() const { return *refusal_; }
  void value() const {
    if (refusal_) throw UserError(*refusal_);
  }

 private:
  std::optional<Diagnostic> refusal_;
};

}  // namespace spdistal
