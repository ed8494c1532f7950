#include "runtime/transport/sent.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal::runtime {

std::string_view name_of(Cargo cargo) {
  switch (cargo) {
    case Cargo::Values: return "values";
    case Cargo::Indices: return "indices";
    case Cargo::Reductions: return "reductions";
    case Cargo::Results: return "results";
    case Cargo::Redistribution: return "redistribution";
    case Cargo::Agreement: return "agreement";
  }
  require(false, "what is sent has a name");
  return {};
}

void Ledger::add(std::string_view about, Cargo cargo, int64_t bytes, int64_t messages) {
  auto entry = std::ranges::find_if(entries_, [&](const Entry& e) { return e.cargo == cargo && e.about == about; });
  if (entry == entries_.end()) entry = entries_.insert(entry, {std::string(about), cargo});
  entry->bytes += bytes;
  entry->messages += messages;
}

void Ledger::add(const Ledger& other) {
  for (const Entry& e : other.entries_) add(e.about, e.cargo, e.bytes, e.messages);
}

int64_t Ledger::bytes() const {
  int64_t sum = 0;
  for (const Entry& e : entries_) sum += e.bytes;
  return sum;
}

void Ledger::clear() {
  for (Entry& e : entries_) e.bytes = e.messages = 0;
}

}  // namespace spdistal::runtime
