#include "generate/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/require.hpp"
#include "base/text.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

struct Word {
  size_t begin, end;
  std::string_view text;
};

std::vector<Word> words_of(std::string_view text, size_t at) {
  std::vector<Word> out;
  while (at < text.size()) {  // at a comma
    size_t begin = at + 1, end = std::min(text.find(',', begin), text.size());
    out.push_back({begin, end, text.substr(begin, end - begin)});
    at = end;
  }
  return out;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string limits(const Parameter& p) {
  return p.most < 9e18 ? fmt::format("{} to {}", p.least, p.most) : fmt::format("at least {}", p.least);
}

}  // namespace

Arguments Arguments::parse(std::string_view text, size_t at, const std::vector<Parameter>& parameters,
                           const std::string& usage) {
  auto refuse = [&](const Word& word, const std::string& message) {
    throw UserError(Diagnostic{message, {{std::string(text), word.begin, word.end}}, usage});
  };
  static const Parameter seed{.name = "seed", .otherwise = 0};
  std::vector<const Parameter*> all;
  for (const Parameter& p : parameters) all.push_back(&p);
  all.push_back(&seed);

  Arguments out;
  std::vector<bool> given(all.size());
  for (const Parameter* p : all) out.values_.push_back({p->name, p->otherwise, int64_t(p->otherwise)});
  size_t next = 0;  // the next parameter given by place alone
  for (const Word& word : words_of(text, at)) {
    std::string_view shown = word.text;
    size_t which = all.size();
    if (size_t equals = word.text.find('='); equals != word.text.npos) {
      std::string_view name = trim(word.text.substr(0, equals));
      shown = trim(word.text.substr(equals + 1));
      which = size_t(std::find_if(all.begin(), all.end(), [&](auto* p) { return p->name == name; }) - all.begin());
      if (which == all.size()) refuse(word, fmt::format("'{}' is not something it takes", name));
    } else {
      shown = trim(word.text);
      for (size_t k = 0; k < all.size(); k++)
        if (all[k]->kind == Parameter::Kind::Flag && all[k]->name == shown) which = k;
      while (which == all.size() && next < parameters.size() &&
             (all[next]->kind == Parameter::Kind::Flag || given[next]) && all[next]->kind != Parameter::Kind::Integers)
        next++;
      if (which == all.size()) {
        if (next == parameters.size()) refuse(word, fmt::format("'{}' is one argument too many", shown));
        which = next;
      }
    }
    const Parameter& p = *all[which];
    Value& value = out.values_[which];
    if (given[which] && p.kind != Parameter::Kind::Integers) refuse(word, fmt::format("'{}' is given twice", p.name));
    given[which] = true;
    if (p.kind == Parameter::Kind::Flag) {
      value.real = 1;
      continue;
    }
    std::optional<double> real = number<double>(shown);
    std::optional<int64_t> integer = number<int64_t>(shown);
    bool fits = p.kind == Parameter::Kind::Real ? real.has_value() : integer.has_value();
    if (!fits || !(*real >= p.least && *real <= p.most))
      refuse(word, fmt::format("{} must be {}, {}, not '{}'", p.name,
                               p.kind == Parameter::Kind::Real ? "a number" : "an integer", limits(p), shown));
    value.real = *real;
    if (integer) value.integer = *integer;
    if (p.kind == Parameter::Kind::Integers) value.integers.push_back(*integer);
  }
  Word end{text.size(), text.size(), {}};
  for (size_t k = 0; k < all.size(); k++) {
    const Parameter& p = *all[k];
    if (p.kind == Parameter::Kind::Integers) {
      size_t count = out.values_[k].integers.size();
      if (count < p.at_least) refuse(end, fmt::format("it takes at least {} numbers, not {}", p.at_least, count));
    } else if (!given[k] && p.otherwise < 0) {
      refuse(end, fmt::format("{} is missing", p.name));
    }
  }
  return out;
}

const Arguments::Value& Arguments::value(std::string_view name) const {
  auto found = std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.name == name; });
  require(found != values_.end(), "a generator asks for its own parameters");
  return *found;
}
int64_t Arguments::integer(std::string_view name) const { return value(name).integer; }
double Arguments::real(std::string_view name) const { return value(name).real; }
const std::vector<int64_t>& Arguments::integers(std::string_view name) const { return value(name).integers; }

}  // namespace spdistal
