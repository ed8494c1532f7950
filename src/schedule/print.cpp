#include "schedule/print.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace spdistal::schedule {
namespace {

using notation::Printer;

struct Show {
  Printer& names;

  std::string operator()(const IndexVar& v) { return names.name(v); }
  std::string operator()(int64_t n) { return std::to_string(n); }
  std::string operator()(const Pieces& p) { return names.number(p); }
  std::string operator()(const Expression& e) { return names(e.tree()); }
  std::string operator()(const TensorRef& t) { return names.name(t.var()); }
  std::string operator()(const WorkspaceName& w) { return w.text; }
  std::string operator()(const LeafName& l) { return l.text; }
  template <class E>
  requires std::is_enum_v<E> std::string operator()(E e) { return std::string(word(e)); }
  template <class T>
  std::string operator()(const std::vector<T>& list) {
    return "{" + join(list, ", ", *this) + "}";
  }
};

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

// An optional parameter that has its default is left out.
template <class T>
bool shown(const T& value, Role role) {
  if constexpr (std::is_enum_v<T>) return role != Role::Optional || value != T{};
  if constexpr (is_list<T>) return role != Role::Optional || !value.empty();
  return true;
}

template <class... C>
std::vector<std::string> list(const std::variant<C...>*) {
  auto signature = []<class D>(const D*) {
    std::vector<std::string> names;
    constexpr bool only = std::tuple_size_v<decltype(D::params)> == 1;
    auto show = [&]<class P>(const P& p) {
      std::string name(p.name);
      if constexpr (is_list<typename P::Type>) name = only ? name + ", …" : "{" + name + ", …}";
      names.push_back(p.role == Role::Optional ? "[" + name + "]" : name);
    };
    std::apply([&](const auto&... p) { (show(p), ...); }, D::params);
    return fmt::format("{}({})", D::name, join(names, ", "));
  };
  return {signature(static_cast<const C*>(nullptr))...};
}

}  // namespace

std::string print(const Command& command, Printer& names) {
  return std::visit(
      [&](const auto& c) {
        std::vector<std::string> args;
        std::apply(
            [&](const auto&... p) {
              ((shown(c.*(p.member), p.role) ? args.push_back(Show{names}(c.*(p.member))) : void()), ...);
            },
            c.params);
        // A list that is all a command takes needs no braces: reorder(i, k, j).
        bool only = std::tuple_size_v<decltype(c.params)> == 1 && args[0].starts_with("{");
        return only ? fmt::format("{}({})", c.name, args[0].substr(1, args[0].size() - 2))
                    : fmt::format("{}({})", c.name, join(args, ", "));
      },
      command);
}

std::string print(const std::vector<Command>& commands, Printer& names) {
  return join(commands, "; ", [&](const Command& c) { return print(c, names); });
}

std::vector<std::string> signatures() { return list(static_cast<const Command*>(nullptr)); }

}  // namespace spdistal::schedule
