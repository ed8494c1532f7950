// The arguments of a generator, by name: "rmat,20,16,permute,seed=3".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spdistal {

struct Parameter {
  enum class Kind : uint8_t { Integer, Real, Flag, Integers };
  std::string_view name;
  Kind kind = Kind::Integer;
  double least = 0, most = 9e18;  // of each number
  double otherwise = -1;          // where it may be left out; negative: it may not
  size_t at_least = 0;            // how many Integers there must be
};

class Arguments {
 public:
  /// Reads what follows the generator's name in `text` from `at` on. Throws UserError with the part underlined; `usage`
  /// is the hint.
  static Arguments parse(std::string_view text, size_t at, const std::vector<Parameter>& parameters,
                         const std::string& usage);

  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const { return real(name) != 0; }
  const std::vector<int64_t>& integers(std::string_view name) const;
  uint64_t seed() const { return uint64_t(integer("seed")); }

 private:
  struct Value {
    std::string_view name;
    double real = 0;
    int64_t integer = 0;
    std::vector<int64_t> integers{};
  };
  const Value& value(std::string_view name) const;
  std::vector<Value> values_;
};

}  // namespace spdistal
