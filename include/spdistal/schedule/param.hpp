// A scheduling command is a plain struct; `params` lists its members once, with what each means. The text parser, the
// printer, the common checks and the documentation are written from that list.
#pragma once
#include <cstdint>
#include <string_view>
#include <tuple>

#include "spdistal/expression.hpp"
#include "spdistal/machine.hpp"
#include "spdistal/result.hpp"
#include "spdistal/schedule/words.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal {

namespace notation {
struct ConcreteStatement;
}

/// What a parameter stands for.
enum class Role : uint8_t {
  Loop,      // a variable (or several) with a loop in the statement
  AnyLoops,  // any number of such variables, none too
  New,       // a variable (or several) that the command makes
  Value,     // a number, a size, a tensor, an expression, a word
  Optional,  // a value that may be left out at the end
};

template <class C, class T>
struct CommandParam {
  using Type = T;
  std::string_view name;
  T C::*member;
  Role role;
};
namespace param {

template <class C, class T>
constexpr CommandParam<C, T> loop(std::string_view name, T C::*member) {
  return {name, member, Role::Loop};
}
template <class C, class T>
constexpr CommandParam<C, T> any_loops(std::string_view name, T C::*member) {
  return {name, member, Role::AnyLoops};
}
template <class C, class T>
constexpr CommandParam<C, T> made(std::string_view name, T C::*member) {
  return {name, member, Role::New};
}
template <class C, class T>
constexpr CommandParam<C, T> value(std::string_view name, T C::*member) {
  return {name, member, Role::Value};
}
template <class C, class T>
constexpr CommandParam<C, T> optional(std::string_view name, T C::*member) {
  return {name, member, Role::Optional};
}

}  // namespace param

/// The name of a temporary that a command introduces.
struct WorkspaceName {
  std::string text;
  WorkspaceName() = default;
  WorkspaceName(std::string name) : text(std::move(name)) {}
  WorkspaceName(const char* name) : text(name) {}
};
/// The name of a library routine that replaces loops.
struct LeafName {
  std::string text;
  LeafName() = default;
  LeafName(std::string name) : text(std::move(name)) {}
  LeafName(const char* name) : text(name) {}
};

}  // namespace spdistal
