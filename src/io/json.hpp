// JSON (RFC 8259) as a value: what descriptors inside of files are written in.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spdistal/result.hpp"

namespace spdistal {

class Json {
 public:
  using List = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string, List, Members>;

  Json() = default;
  Json(Value value) : value_(std::move(value)) {}

  /// The refusal says what is wrong, and at which character.
  static Result<Json> parse(std::string_view text);

  /// What it is, where it is a T; else null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  /// The member of an object; null where there is none, or this is no object.
  const Json* find(std::string_view name) const;

 private:
  Value value_ = nullptr;
};

}  // namespace spdistal
