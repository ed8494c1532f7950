// Readable, distinct names for symbols while something is printed. A symbol keeps its own name where that is free;
// a second symbol of the same name gets a number; an unnamed one takes the next free name of its alphabet.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "spdistal/symbol.hpp"

namespace spdistal {

class Names {
 public:
  /// The name of a symbol, chosen at first use. `wish` is what an unnamed one would like to be called; without it the
  /// alphabet's letters are tried in order, then its last letter with numbers.
  const std::string& of(const Symbol& symbol, std::span<const std::string_view> alphabet, std::string_view wish = {});
  /// The same with names counted from 1: "T1", "T2", … for a symbol that has none.
  const std::string& numbered(const Symbol& symbol, std::string_view stem);
  /// Sets a name aside: no symbol gets it.
  void reserve(std::string name) { taken_.insert(std::move(name)); }
  /// Ends a symbol's scope: its name is free for others from here on.
  void release(const Symbol& symbol);

 private:
  std::string free_variant(std::string_view name);
  const std::string& choose(const Symbol& symbol, std::string name);

  std::map<Symbol, std::string> chosen_;
  std::set<std::string> taken_;
};

}  // namespace spdistal
