// Names of variables while a function is printed: distinct from all names in scope, free again where the scope ends.
#pragma once
#include <vector>

#include "base/names.hpp"
#include "base/text.hpp"
#include "ir/nodes.hpp"

namespace spdistal::ir {

class ScopedNames {
 public:
  void reserve(std::string name) { names_.reserve(std::move(name)); }
  void enter() { marks_.push_back(declared_.size()); }
  void leave() {
    for (; declared_.size() > marks_.back(); declared_.pop_back()) release(declared_.back());
    marks_.pop_back();
  }
  /// Names a variable at its declaration, to the end of the scope.
  std::string declare(const Var& v) {
    declared_.push_back(v.symbol);
    return of(v);
  }
  std::string of(const Var& v) {
    constexpr std::string_view letters[] = {"v"};
    std::string spelled = spell(v.symbol.name());
    if (spelled == v.symbol.name()) return names_.of(v.symbol, letters);
    return names_.of(plain_.emplace(v.symbol, Symbol(spelled)).first->second, letters);
  }

 private:
  // A name that is none in C, such as "B.pos" and "B'", with what one may have. Those with a '_' in front belong to
  // compilers.
  static std::string spell(std::string name) {
    for (char& c : name)
      if (c == '\'' || !is_identifier(std::string{'_', c})) c = '_';
    bool begins = name.empty() || (is_identifier(name) && name[0] != '_');
    return begins ? name : "v" + name;
  }
  void release(const Symbol& s) {
    auto it = plain_.find(s);
    names_.release(it == plain_.end() ? s : it->second);
  }

  std::map<Symbol, Symbol> plain_;
  Names names_;
  std::vector<Symbol> declared_;
  std::vector<size_t> marks_;
};

}  // namespace spdistal::ir
