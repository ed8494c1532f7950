#include "support/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "base/text.hpp"
#include "spdistal/distribution.hpp"
#include "spdistal/error.hpp"
#include "support/elements.hpp"
#include "support/sequence_meaning.hpp"

namespace spdistal::test {

using Kind = Step::Kind;

size_t SequenceTensor::order() const { return std::min(levels.find(':'), levels.size()); }

Format SequenceTensor::format() const {
  Format out = order() == 0 ? Format() : Format::parse(levels);
  if (pieces == 0 || order() == 0) return out;
  Machine machine{Grid(pieces)};
  std::vector<DistVar> dims(order());
  return Format(out, Distribution(dims, machine, {dims[0]}));
}

const SequenceTensor& Sequence::tensor(const std::string& name) const {
  auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
  require(found != tensors.end(), "a step names a tensor of its sequence");
  return *found;
}

std::vector<SequenceEntry> entries_of(const SequenceTensor& tensor, int64_t seed) {
  std::mt19937_64 random{uint64_t(seed)};
  std::vector<SequenceEntry> out;
  bool dense = tensor.levels.find('s') == std::string::npos;
  each_element(std::vector<int64_t>(tensor.order(), SequenceTensor::side), [&](const auto& at, size_t) {
    int64_t value = int64_t(random() % 5) - 2;
    if (dense || random() % 2 == 0) out.push_back({at, double(value)});
  });
  return out;
}

// ---- drawing ----

namespace {

// Right sides by what the result is. S, X, P and N stand for any scalar, vector, sparse vector and matrix.
const std::vector<std::string> scalars{"S()",  "S() + S()",   "2 * S()",       "S() - S()",  "S() * S()",
                                       "X(i)", "X(i) * X(i)", "N(i,j) * X(j)", "S() + X(i)", "1",
                                       "X(1)", "N(0,1)",      "X(i+1) * X(i)"};
const std::vector<std::string> vectors{
    "X(i)",          "X(i) + X(i)",    "2 * X(i)",   "S() * X(i)", "X(i) - X(i)",          "S()",
    "N(i,j) * X(j)", "N(j,i) * X(j)",  "X(i) + S()", "N(i,i)",     "X(i) + N(i,j) * X(j)", "N(i,0)",
    "X(i) - N(1,i)", "N(i,j+1) * X(j)"};
const std::vector<std::string> sparse_vectors{"P(i)", "P(i) * X(i)", "P(i) + P(i)", "2 * P(i)", "S() * P(i)"};
const std::vector<std::string> sparse_matrices{"N(i,j)",          "N(j,i)",          "2 * N(i,j)",
                                               "N(i,j) + N(i,j)", "N(i,j) + N(j,i)", "N(i,j) * X(i)",
                                               "N(i,k) * N(k,j)", "N(i,j) * N(i,j)"};
const std::vector<std::string> matrices{"N(i,j)", "X(i) * X(j)", "N(i,j) + N(j,i)", "N(i,k) * N(k,j)", "S()"};

class DrawSequence {
 public:
  explicit DrawSequence(std::mt19937_64& random) : random_(random) {}

  Sequence operator()() {
    draw_tensors();
    bool with_handles = one_in(2);
    for (const SequenceTensor& tensor : out_.tensors)
      if (with_handles || !one_in(4)) out_.steps.push_back(data_for(tensor));
    size_t count = 4 + random_() % 20;
    for (size_t tries = 0; out_.steps.size() < count && tries < 200; tries++) {
      out_.steps.push_back(with_handles && one_in(6) ? handle_step()
                                                     : step(with_handles ? Handles::Go : Handles::Stay));
      if (!is_plain()) out_.steps.pop_back();
    }
    return std::move(out_);
  }

 private:
  enum class Handles { Go, Stay };

  bool one_in(uint64_t n) { return random_() % n == 0; }
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[random_() % list.size()];
  }

  void draw_tensors() {
    auto add = [&](const char* names, size_t count, const std::vector<std::string>& levels) {
      for (size_t k = 0; k < count; k++)
        out_.tensors.push_back({std::string(1, names[k]), any(levels), one_in(4) ? int64_t(1 + random_() % 3) : 0});
    };
    add("abc", 1 + random_() % 3, {""});
    add("uvw", 1 + random_() % 3, {"d"});
    add("pq", random_() % 3, {"s"});
    add("ABC", random_() % 3, {"ds", "ds:1,0", "ss", "dd", "us", "ds"});
  }

  std::vector<std::string> named(char kind) const {
    std::vector<std::string> out;
    for (const SequenceTensor& t : out_.tensors) {
      bool sparse_vector = t.levels == "s";
      if ((kind == 'S' && t.order() == 0) || (kind == 'X' && t.order() == 1) || (kind == 'P' && sparse_vector) ||
          (kind == 'N' && t.order() == 2))
        out.push_back(t.name);
    }
    return out;
  }

  // A right side with names; nothing where there is no tensor of a kind.
  std::optional<std::string> filled(const std::string& form) {
    std::string out;
    for (char c : form) {
      if (std::string("SXPN").find(c) == std::string::npos) {
        out += c;
        continue;
      }
      std::vector<std::string> names = named(c);
      if (names.empty()) return std::nullopt;
      out += any(names);
    }
    return out;
  }

  Step say() {
    for (;;) {
      const SequenceTensor& t = any(out_.tensors);
      bool dense = t.levels.find('s') == std::string::npos;
      const std::vector<std::string>& forms = t.order() == 0   ? scalars
                                              : t.order() == 1 ? (dense ? vectors : sparse_vectors)
                                              : dense          ? matrices
                                                               : sparse_matrices;
      std::optional<std::string> right = filled(any(forms));
      if (!right) continue;
      static const std::vector<std::vector<std::string>> left = {{"()"}, {"(i)"}, {"(i,j)"}};
      static const std::vector<std::vector<std::string>> windows = {
          {"()"}, {"(i+1)", "(2)"}, {"(i+1,j)", "(i,j+1)", "(1,j)", "(i,0)", "(i+1,i)"}};
      const std::vector<std::string>& elements = (dense && one_in(5) ? windows : left)[t.order()];
      int64_t schedule = t.order() > 0 && one_in(3) ? int64_t(1 + random_() % 2) : 0;
      static const std::vector<std::string> operations = {"+=", "+=", "min=", "max="};
      // The least of what is stored of a sparse tensor and of zeros has no sparse result.
      std::string how = one_in(3) ? (dense ? any(operations) : "+=") : "=";
      return {Kind::Say, t.name, fmt::format("{}{} {} {}", t.name, any(elements), how, *right), schedule};
    }
  }

  Step data_for(const SequenceTensor& t) {
    bool dense = t.levels.find('s') == std::string::npos;
    if (!dense || one_in(3)) return {Kind::Pack, t.name, {}, int64_t(random_() % 100)};
    return {one_in(2) ? Kind::Fill : Kind::FillByPlace, t.name, {}, int64_t(random_() % 4)};
  }

  Step step(Handles handles) {
    const SequenceTensor& t = any(out_.tensors);
    bool dense = t.levels.find('s') == std::string::npos;
    switch (random_() % 12) {
      case 0: return data_for(t);
      case 1: return dense && one_in(3) ? Step{Kind::FillByOld, t.name, {}, 1} : data_for(t);
      case 2: return {Kind::Look, t.name};
      case 3: return one_in(3) ? Step{Kind::Compile, t.name} : Step{Kind::Look, t.name};
      case 4:
      case 5: return handles == Handles::Stay ? Step{Kind::Compute, t.name} : say();
      default: return say();
    }
  }

  Step handle_step() {
    const SequenceTensor& t = any(out_.tensors);
    std::vector<std::string> others;
    for (const SequenceTensor& other : out_.tensors)
      if (other.name != t.name && other.levels == t.levels && other.pieces == t.pieces) others.push_back(other.name);
    if (others.empty() || one_in(3)) return {Kind::Renew, t.name, {}, int64_t(random_() % 100)};
    return {Kind::Alias, t.name, any(others)};
  }

  // Sums of small numbers are exact, in any order.
  bool is_plain() const {
    Meaning meaning(out_);
    for (const Step& step : out_.steps) meaning.step(step);
    return meaning.largest() < 1e9 && !meaning.reduces_with_nothing();
  }

  std::mt19937_64& random_;
  Sequence out_;
};

// ---- printing ----

std::string sizes_of(const SequenceTensor& tensor) {
  return join(std::vector<int64_t>(tensor.order(), SequenceTensor::side), ", ",
              [](int64_t n) { return std::to_string(n); });
}

std::string made(const SequenceTensor& tensor) {
  if (tensor.order() == 0) return "Tensor<double>()";
  std::string where = tensor.pieces > 0 ? fmt::format(" /* {} pieces */", tensor.pieces) : "";
  return fmt::format("Tensor<double>({{{}}}, Format::parse(\"{}\"){})", sizes_of(tensor), tensor.levels, where);
}

std::string inserted(const SequenceTensor& tensor, int64_t seed) {
  std::string out;
  for (const auto& [at, value] : entries_of(tensor, seed))
    out += fmt::format("{}.insert({{{}}}, {}); ", tensor.name,
                       join(at, ", ", [](int64_t c) { return std::to_string(c); }), value);
  return fmt::format("{}{}.pack();", out, tensor.name);
}

std::string scheduled(const Step& step) {
  const char* schedules[] = {"", ".split(i, io, ii, 2)", ".divide(i, io, ii, 2).distribute(io)"};
  if (step.number == 0) return step.text + ";";
  return fmt::format("{}; {}.schedule(){};", step.text, step.tensor, schedules[step.number]);
}

std::string print(const Sequence& sequence, const Step& step) {
  const SequenceTensor& tensor = sequence.tensor(step.tensor);
  const std::string& name = step.tensor;
  switch (step.kind) {
    case Kind::Say: return scheduled(step);
    case Kind::Fill: return fmt::format("{}.fill({});", name, step.number);
    case Kind::FillByPlace:
      return fmt::format("{}.fill([](auto at) {{ return {} + {}; }});", name, step.number,
                         tensor.order() == 0 ? "0.0" : "at[0]");
    case Kind::FillByOld:
      return fmt::format("{0}.fill([&](auto at) {{ return {1} + {0}.at(at); }});", name, step.number);
    case Kind::Pack: return inserted(tensor, step.number);
    case Kind::Renew: return fmt::format("{} = {}; {}", name, made(tensor), inserted(tensor, step.number));
    case Kind::Alias: return fmt::format("{} = {};", name, step.text);
    case Kind::Look: return fmt::format("{}.gather();", name);
    case Kind::Compute: return fmt::format("{}.compute();", name);
    case Kind::Compile: return fmt::format("{}.compile();", name);
  }
  return "";
}

}  // namespace

Sequence draw_sequence(std::mt19937_64& random) { return DrawSequence(random)(); }

std::string print(const Sequence& sequence) {
  std::string out;
  for (const SequenceTensor& tensor : sequence.tensors)
    out += fmt::format("  auto {} = {};\n", tensor.name, made(tensor));
  for (const Step& step : sequence.steps) out += fmt::format("  {}\n", print(sequence, step));
  return out;
}

// ---- shrinking ----

namespace {

std::vector<Sequence> smaller(const Sequence& sequence) {
  std::vector<Sequence> out;
  size_t count = sequence.steps.size();
  for (size_t length = (count + 1) / 2; length > 0; length /= 2)
    for (size_t end = count; end >= length; end -= length) {
      out.push_back(sequence);
      auto first = out.back().steps.begin() + long(end - length);
      out.back().steps.erase(first, first + long(length));
    }
  for (size_t k = 0; k < count; k++)
    if (sequence.steps[k].kind == Kind::Say && sequence.steps[k].number != 0) {
      out.push_back(sequence);
      out.back().steps[k].number = 0;
    }
  for (size_t k = 0; k < sequence.tensors.size(); k++) {
    if (sequence.tensors[k].pieces == 0) continue;
    out.push_back(sequence);
    out.back().tensors[k].pieces = 0;
  }
  return out;
}

bool is_named(const Sequence& sequence, const std::string& tensor) {
  return std::any_of(sequence.steps.begin(), sequence.steps.end(), [&](const Step& step) {
    return step.tensor == tensor || step.text.find(tensor) != std::string::npos;
  });
}

}  // namespace

Sequence shrink(Sequence sequence, const FindSequenceFault& find) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Sequence& candidate : smaller(sequence)) {
      if (!find(candidate)) continue;
      sequence = candidate;
      changed = true;
      break;
    }
  }
  std::erase_if(sequence.tensors, [&](const SequenceTensor& tensor) { return !is_named(sequence, tensor.name); });
  return sequence;
}

}  // namespace spdistal::test
