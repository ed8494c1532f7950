// Trees as immutable values. A family of nodes is a closed list of plain structs (`Kinds`); a tree is a `Handle` to one
// of them, never null; a node lists its members once (`fields`). Everything generic is written here from that, once:
// match, visiting and mapping of children, rewriting, equality, hashing, debug text.
//
//   struct Neg { Expr a;  static constexpr auto fields = std::tuple{&Neg::a}; };
//   struct ExprKinds : Kinds<Var, Neg, Add> {};
//   using Expr = Handle<ExprKinds>;
//
// What goes through all kinds of nodes is compiled once for a family, where it says so (`SPDISTAL_EXTERN_FAMILY` below its nodes, and
// `SPDISTAL_FAMILY` in one file): users call it through a reference to their function.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spdistal {

/// The closed set of node structs of one family: the one place to add a node kind.
template <class... N>
struct Kinds {
  template <class T>
  static constexpr bool contains = (std::same_as<T, N> || ...);
  template <template <class...> class Into>
  using into = Into<N...>;
};

/// The families of which nodes have children. Nodes of a family have children of it alone unless it states `Trees`.
template <class... K>
struct Families {};

template <class K>
struct Box;  // defined below, once the nodes are complete

template <class T, class K>
concept NodeOf = K::template contains<T>;

/// A shared, immutable node of family K. Copying is cheap; equality is structural.
template <class K>
class Handle {
 public:
  using Family = K;

  template <NodeOf<K> T>
  Handle(T node) : node_(std::make_shared<const Box<K>>(std::move(node))) {}

  /// The variant of nodes, for std::visit; prefer `match`.
  const auto& operator*() const { return node_->value; }
  template <class T>
  const T* as() const& {
    return std::get_if<T>(&node_->value);
  }
  /// The node of a temporary handle may be gone when it is looked at: give the handle a name first.
  template <class T>
  const T* as() const&& = delete;
  template <class T>
  bool is() const {
    return as<T>() != nullptr;
  }
  /// The very same node, not just an equal one.
  bool same_as(const Handle& other) const { return node_ == other.node_; }

 private:
  std::shared_ptr<const Box<K>> node_;
};

template <class K>
struct Box {
  typename K::template into<std::variant> value;
  template <class T>
  explicit Box(T node) : value(std::move(node)) {}
};

namespace detail {

template <class T>
inline constexpr bool is_handle = false;
template <class K>
inline constexpr bool is_handle<Handle<K>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A plain struct that lists its members: a node, or a record inside one.
template <class T>
concept Record = requires {
  T::fields;
};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;
template <class K>
struct TreesOf {
  using type = Families<K>;
};
template <class K>
  requires requires { typename K::Trees; }
struct TreesOf<K> {
  using type = typename K::Trees;
};

/// A function that is called through a reference, which it outlives.
template <class R, class A>
class Callback {
 public:
  template <class F>
  explicit Callback(F& f) : to_(&f), call_([](void* to, A a) -> R { return (*static_cast<F*>(to))(a); }) {}
  R operator()(A a) const { return call_(to_, a); }

 private:
  void* to_;
  R (*call_)(void*, A);
};

/// What to do with children, by their family.
template <class F>
struct ChildVisitor;
template <class... K>
struct ChildVisitor<Families<K...>> : Callback<void, const Handle<K>&>... {
  template <class F>
  explicit ChildVisitor(F& f) : Callback<void, const Handle<K>&>(f)... {}
  using Callback<void, const Handle<K>&>::operator()...;
};
template <class F>
struct ChildMap;
template <class... K>
struct ChildMap<Families<K...>> : Callback<Handle<K>, const Handle<K>&>... {
  template <class F>
  explicit ChildMap(F& f) : Callback<Handle<K>, const Handle<K>&>(f)... {}
  using Callback<Handle<K>, const Handle<K>&>::operator()...;
};

template <class M, class V>
inline constexpr bool exhaustive = false;
template <class M, class... N>
inline constexpr bool exhaustive<M, std::variant<N...>> = (std::is_invocable_v<M, const N&> && ...);

}  // namespace detail

/// One case per node kind, checked when compiling: there is no catch-all.
template <class K, class... F>
decltype(auto) match(const Handle<K>& tree, F... cases) {
  using M = detail::Overloaded<F...>;
  using V = std::remove_cvref_t<decltype(*tree)>;
  static_assert(detail::exhaustive<M, V>, "match: a node kind has no case");
  if constexpr (detail::exhaustive<M, V>) return std::visit(M{std::move(cases)...}, *tree);
}

/// Calls f with every member of a record, in order.
template <detail::Record N, class F>
void for_each_field(const N& node, F&& f) {
  std::apply([&](auto... member) { (f(node.*member), ...); }, N::fields);
}

/// Calls f with every direct child of a node (handles, also inside vectors, optionals and records).
template <class T, class F>
void for_each_child(const T& value, F&& f) {
  if constexpr (detail::is_handle<T>) {
    f(value);
  } else if constexpr (detail::is_vector<T> || detail::is_optional<T>) {
    if constexpr (detail::is_vector<T>)
      for (const auto& item : value) for_each_child(item, f);
    else if (value) for_each_child(*value, f);
  } else if constexpr (detail::Record<T>) {
    for_each_field(value, [&](const auto& member) { for_each_child(member, f); });
  }
}
namespace detail {

template <class K>
void visit_children(const Handle<K>& tree, const ChildVisitor<typename TreesOf<K>::type>& visitor) {
  std::visit([&](const auto& node) { for_each_child(node, visitor); }, *tree);
}

}  // namespace detail

template <class K, class F>
void children(const Handle<K>& tree, F&& f) {
  detail::visit_children<K>(tree, detail::ChildVisitor<typename detail::TreesOf<K>::type>(f));
}

/// Visits a tree from the root down, calling f(node) for every node of the type that f takes.
template <class N, class Tree, class F>
void each(const Tree& tree, F&& f) {
  if constexpr (Tree::Family::template contains<N>)
    if (auto* node = tree.template as<N>()) f(*node);
  children(tree, [&](const auto& child) { each<N>(child, f); });
}

namespace detail {

template <class M>
struct ChildMapper {
  const M& map;
  bool changed = false;

  template <class T>
  T operator()(const T& value) {
    if constexpr (is_handle<T>) {
      T mapped = map(value);
      changed |= !mapped.same_as(value);
      return mapped;
    } else if constexpr (is_vector<T>) {
      T out;
      out.reserve(value.size());
      for (const auto& item : value) out.push_back((*this)(item));
      return out;
    } else if constexpr (is_optional<T>) {
      return value ? T((*this)(*value)) : T();
    } else if constexpr (Record<T>) {
      return std::apply([&](auto... member) { return T{(*this)(value.*member)...}; }, T::fields);
    } else {
      return value;
    }
  }
};

template <class K>
Handle<K> with_children(const Handle<K>& tree, const ChildMap<typename TreesOf<K>::type>& map) {
  return std::visit(
      [&](const auto& node) -> Handle<K> {
        ChildMapper<ChildMap<typename TreesOf<K>::type>> mapper{map};
        auto mapped = mapper(node);
        return mapper.changed ? Handle<K>(std::move(mapped)) : tree;
      },
      *tree);
}

}  // namespace detail

/// The same node with every direct child replaced by map(child); the same handle where nothing changed.
template <class K, class R>
Handle<K> map_children(const Handle<K>& tree, R&& map) {
  return detail::with_children<K>(tree, detail::ChildMap<typename detail::TreesOf<K>::type>(map));
}

/// Rewrites a tree from the leaves up. Each rule takes one node type by const reference and returns a handle of its
/// family; nodes without a rule are kept. `rewrite(tree, [](const Add& n) -> Expr {…}, …)`.
template <class... F>
class Rewriter {
 public:
  explicit Rewriter(F... rules) : rules_{std::move(rules)...} {}

  template <class K>
  Handle<K> operator()(const Handle<K>& tree) {
    Handle<K> mapped = map_children(tree, *this);
    return apply(mapped, *mapped);
  }

 private:
  using Rules = detail::Overloaded<F...>;

  template <class K, class... N>
  Handle<K> apply(const Handle<K>& tree, const std::variant<N...>&) {
    std::optional<Handle<K>> out;
    auto try_rule = [&]<class T>(const T* node) {
      if (node) out.emplace(rules_(*node));
      return node != nullptr;
    };
    auto try_kind = [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_invocable_v<Rules&, const T&>) return try_rule(tree.template as<T>());
      else return false;
    };
    (try_kind(std::type_identity<N>()) || ...);
    return out ? *out : tree;
  }

  Rules rules_;
};
template <class K, class... F>
Handle<K> rewrite(const Handle<K>& tree, F... rules) {
  return Rewriter<F...>(std::move(rules)...)(tree);
}

// ---- equality and hashing, by structure -----------------------------------------------------------------------------

template <class T>
bool structurally_equal(const T& a, const T& b) {
  if constexpr (detail::is_handle<T>) {
    if (a.same_as(b)) return true;
    if ((*a).index() != (*b).index()) return false;
    return std::visit(
        [&](const auto& node) { return structurally_equal(node, std::get<std::remove_cvref_t<decltype(node)>>(*b)); },
        *a);
  } else if constexpr (detail::is_vector<T>) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++)
      if (!structurally_equal(a[i], b[i])) return false;
    return true;
  } else if constexpr (detail::is_optional<T>) {
    return a.has_value() == b.has_value() && (!a || structurally_equal(*a, *b));
  } else if constexpr (detail::Record<T>) {
    return std::apply([&](auto... member) { return (structurally_equal(a.*member, b.*member) && ...); }, T::fields);
  } else {
    return a == b;
  }
}
template <class K>
bool operator==(const Handle<K>& a, const Handle<K>& b) {
  return structurally_equal(a, b);
}

/// Mixes all bits (the finish of splitmix64), since small numbers hash to themselves.
inline size_t combine_hashes(size_t seed, size_t value) {
  uint64_t x = seed * 31 + value + 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
template <class T>
size_t structural_hash(const T& value) {
  if constexpr (detail::is_handle<T>) {
    return std::visit([&](const auto& node) { return combine_hashes((*value).index(), structural_hash(node)); },
                      *value);
  } else if constexpr (detail::is_vector<T>) {
    size_t hash = value.size();
    for (const auto& item : value) hash = combine_hashes(hash, structural_hash(item));
    return hash;
  } else if constexpr (detail::is_optional<T>) {
    return value ? combine_hashes(1, structural_hash(*value)) : 0;
  } else if constexpr (detail::Record<T>) {
    size_t hash = 0;
    for_each_field(value, [&](const auto& member) { hash = combine_hashes(hash, structural_hash(member)); });
    return hash;
  } else if constexpr (std::is_enum_v<T>) {
    return size_t(value);
  } else {
    return std::hash<T>{}(value);
  }
}

}  // namespace spdistal

// Below the nodes of a family: what goes through all of its kinds is compiled elsewhere, in the file that has SPDISTAL_FAMILY.
#define SPDISTAL_FAMILY_PARTS(EXTERN, K)                                                                          \
  EXTERN template void detail::visit_children<K>(const Handle<K>&,                                                \
                                                 const detail::ChildVisitor<typename detail::TreesOf<K>::type>&); \
  EXTERN template Handle<K> detail::with_children<K>(const Handle<K>&,                                            \
                                                     const detail::ChildMap<typename detail::TreesOf<K>::type>&); \
  EXTERN template bool structurally_equal(const Handle<K>&, const Handle<K>&);                                    \
  EXTERN template size_t structural_hash(const Handle<K>&);
#define SPDISTAL_EXTERN_FAMILY(K) SPDISTAL_FAMILY_PARTS(extern, K)
#define SPDISTAL_FAMILY(K) SPDISTAL_FAMILY_PARTS(, K)

template <class K>
struct std::hash<spdistal::Handle<K>> {
  size_t operator()(const spdistal::Handle<K>& tree) const { return spdistal::structural_hash(tree); }
};
