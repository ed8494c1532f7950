// Names as identities. Two symbols are the same only if one is a copy of the other; the text is for people, may be
// empty (a printer then chooses one by first use), and may be shared by different symbols (a printer tells them apart).
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
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

/// A variable of index notation: `IndexVar i, j; a(i) = B(i, j) * c(j);`
class IndexVar : public Symbol {
 public:
  using Symbol::Symbol;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::Symbol> {
  size_t operator()(const spdistal::Symbol& s) const { return std::hash<uint64_t>{}(s.id()); }
};
template <>
struct std::hash<spdistal::IndexVar> : std::hash<spdistal::Symbol> {};
