// Names as identities. Two symbols are the same only if one is a copy of the other; the text is for people, may be
// empty (a printer then chooses one by first use), and may be shared by different symbols (a printer tells them apart).
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace spdistal {

class Symbol {
 public:
  explicit Symbol(std::string name = {});

  const std::string& name() const { return info_->name; }
  /// Grows with every symbol made: an order by first making, the same on every rank of one program.
  uint64_t id() const { return info_->id; }

  friend bool operator==(const Symbol& a, const Symbol& b) { return a.info_ == b.info_; }
  friend auto operator<=>(const Symbol& a, const Symbol& b) { return a.id() <=> b.id(); }

 private:
  struct Info {
    std::string name;
    uint64_t id;
  };
  std::shared_ptr<const Info> info_;
};

struct Window;

/// A variable of index notation: `IndexVar i, j; a(i) = B(i, j) * c(j);` — or a window, which stands in the place of one in
/// an access and is found from it: `b(i + 1)`, `b(2 * i)`, `B(i(2, 10), j)`, `B(i, 0)`. Windows are the same where they say
/// the same.
class IndexVar : public Symbol {
 public:
  using Symbol::Symbol;

  /// The coordinates first, first + stride, … that lie before `end`, as many as the variable has values. Throws UserError
  /// for a window that there is not.
  IndexVar operator()(int64_t first, int64_t end, int64_t stride = 1) const;
  /// One coordinate, of no variable.
  static IndexVar at(int64_t coordinate);
  friend IndexVar operator+(const IndexVar& i, int64_t offset);
  friend IndexVar operator+(int64_t offset, const IndexVar& i) { return i + offset; }
  friend IndexVar operator-(const IndexVar& i, int64_t offset);
  friend IndexVar operator*(int64_t stride, const IndexVar& i);
  friend IndexVar operator*(const IndexVar& i, int64_t stride) { return stride * i; }

  /// Null for a variable.
  const Window* window() const { return window_.get(); }

  friend bool operator==(const IndexVar& a, const IndexVar& b) { return a.key() == b.key(); }
  friend auto operator<=>(const IndexVar& a, const IndexVar& b) { return a.key() <=> b.key(); }

 private:
  friend struct std::hash<IndexVar>;
  struct Key {
    uint64_t of;
    int64_t offset = 0, stride = 1, end = -1;
    auto operator<=>(const Key&) const = default;
  };
  explicit IndexVar(Window window);
  Key key() const { return window_ ? key_of_window() : Key{id()}; }
  Key key_of_window() const;

  std::shared_ptr<const Window> window_;
};

/// What an access takes of a dimension: coordinate = offset + stride * index.
struct Window {
  std::optional<IndexVar> of;  // none: one coordinate
  int64_t offset, stride;
  std::optional<int64_t> end = {};  // where it was said: before which coordinates lie
  /// How many values the variable has for it, in a dimension of this size.
  int64_t count(int64_t size) const;
  /// With another variable in the place of its own.
  IndexVar over(const IndexVar& var) const;
  /// As it is written, with this name of its variable: "i+1", "2*i+1", "i(2,10)", "i(0,10,2)", "0".
  std::string text(const std::string& name) const;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::Symbol> {
  size_t operator()(const spdistal::Symbol& s) const { return std::hash<uint64_t>{}(s.id()); }
};
template <>
struct std::hash<spdistal::IndexVar> {
  size_t operator()(const spdistal::IndexVar& var) const {
    auto key = var.key();
    size_t out = std::hash<uint64_t>{}(key.of);
    for (int64_t part : {key.offset, key.stride, key.end}) out = out * 31 + std::hash<int64_t>{}(part);
    return out;
  }
};
