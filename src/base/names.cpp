#include "base/names.hpp"

namespace spdistal {

const std::string& Names::of(const Symbol& symbol, std::span<const std::string_view> alphabet, std::string_view wish) {
  if (auto known = chosen_.find(symbol); known != chosen_.end()) return known->second;
  std::string name;
  if (!symbol.name().empty()) {
    name = free_variant(symbol.name());
  } else if (!wish.empty()) {
    name = free_variant(wish);
  } else {
    for (std::string_view letter : alphabet)
      if (!taken_.contains(std::string(letter))) {
        name = letter;
        break;
      }
    if (name.empty()) name = free_variant(alphabet.empty() ? "v" : alphabet.back());
  }
  return choose(symbol, std::move(name));
}

const std::string& Names::numbered(const Symbol& symbol, std::string_view stem) {
  if (chosen_.contains(symbol) || !symbol.name().empty()) return of(symbol, {});
  std::string name;
  for (int n = 1; name.empty() || taken_.contains(name); n++) name = std::string(stem) + std::to_string(n);
  return choose(symbol, std::move(name));
}

const std::string& Names::choose(const Symbol& symbol, std::string name) {
  taken_.insert(name);
  return chosen_.emplace(symbol, std::move(name)).first->second;
}

void Names::release(const Symbol& symbol) {
  auto known = chosen_.find(symbol);
  if (known == chosen_.end()) return;
  taken_.erase(known->second);
  chosen_.erase(known);
}

std::string Names::free_variant(std::string_view name) {
  std::string out(name);
  for (int n = 2; taken_.contains(out); n++) out = std::string(name) + std::to_string(n);
  return out;
}

}  // namespace spdistal
