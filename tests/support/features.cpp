#include "support/features.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "machine/parse.hpp"
#include "notation/arithmetic.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

void look_at_expression(const Assignment& assignment, Features& out) {
  std::map<TensorVar, int> times;
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) {
    times[access.tensor]++;
    if (std::set<IndexVar>(access.indices.begin(), access.indices.end()).size() < access.indices.size())
      out.insert("diagonal");
    for (const IndexVar& index : access.indices)
      if (const Window* window = index.window())
        out.insert(!window->of ? "coordinate" : window->stride != 1 ? "stride" : window->end ? "window" : "offset");
  });
  for (const auto& [tensor, count] : times) {
    if (count > 1) out.insert("tensor twice");
    if (count > 2) out.insert("tensor three times");
  }
  if (times.contains(assignment.lhs.tensor)) out.insert("reads its result");
  if (assignment.op == AssignOp::Add) out.insert("adds to its result");
  else if (assignment.op != AssignOp::Set) out.insert("assigns by " + std::string(info(assignment.op).assignment));
  if (times.empty()) out.insert("no operand");
  each<Literal>(assignment.rhs,
                [&](const Literal& n) { out.insert(notation::is_zero(n.value) ? "literal zero" : "literal"); });
  each<Binary>(assignment.rhs, [&](const Binary& n) {
    if (is_comparison(n.op)) out.insert("comparison");
    if (is_logical(n.op)) out.insert("logical operation");
    if (n.op != BinaryOp::Div) return;
    out.insert(is_integral(type_of(Expr(n))) ? "division of whole numbers" : "division");
  });
  each<Call>(assignment.rhs, [&](const Call& n) {
    out.insert((n.domain == Domain::Stored ? "map by " : "function ") + std::string(info(n.function).name));
  });
  each<Reduction>(assignment.rhs, [&](const Reduction& n) {
    out.insert(n.op == AssignOp::Add ? "explicit sum" : "reduction by " + std::string(info(n.op).reduction));
  });
  // Where sums are added up in parts, each part is a bool.
  bool differs = false;
  each<Neg>(assignment.rhs, [&](const Neg&) { differs = true; });
  each<Binary>(assignment.rhs, [&](const Binary& n) { differs |= n.op == BinaryOp::Sub; });
  each<Literal>(assignment.rhs, [&](const Literal& n) { differs |= print(n.value).starts_with("-"); });
  if (differs && assignment.lhs.tensor.type() == ScalarType::Bool) out.insert("differences as bools");
  if (is_integral(assignment.lhs.tensor.type()) != is_integral(type_of(assignment.rhs)))
    out.insert("other type of result");
}

void look_at_names(const Assignment& assignment, Features& out) {
  std::set<std::string> all;
  for (const TensorVar& tensor : tensors(assignment)) all.insert(tensor.symbol().name());
  for (const IndexVar& var : variables(assignment)) all.insert(var.name());
  for (const std::string& name : all) {
    if (name.find('\'') != name.npos) out.insert("name with a prime");
    if (name.size() > 3 && name.find('\'') == name.npos && name.find('_') == name.npos) out.insert("name spoken for");
    for (const std::string& other : all)
      if (other.size() > name.size() && other.starts_with(name)) out.insert("names alike");
  }
}

void look_at_tensor(const TensorCase& tensor, Features& out) {
  const reference::DenseArray& array = tensor.array;
  out.insert("order " + std::to_string(array.dims.size()));
  out.insert("type " + std::string(name_of(array.type)));
  for (const LevelFormat& level : tensor.format.levels()) out.insert(std::string("level ") + level.letter());
  if (tensor.format.mode_order() != Format(tensor.format.levels()).mode_order())
    out.insert("dimensions in another order");
  if (tensor.format.fill()) out.insert("fill value");
  if (!tensor.format.blocks().empty()) out.insert("blocks");
  if (std::find(array.dims.begin(), array.dims.end(), 0) != array.dims.end()) out.insert("size 0");
  bool stored = array.absent.empty();
  for (size_t k = 0; k < array.values.size(); k++) {
    bool absent = !array.absent.empty() && array.absent[k];
    stored |= !absent;
    if (!array.absent.empty() && !absent && notation::is_zero(array.values[k])) out.insert("stored zero");
    if (is_complex(array.type) || is_integral(array.type)) continue;
    double value =
        std::get<double>(static_cast<const ScalarVariant&>(notation::convert(array.values[k], ScalarType::Float64)));
    if (std::isinf(value)) out.insert("inf");
    if (std::isnan(value)) out.insert("nan");
  }
  if (!stored) out.insert("empty tensor");
}

void look_at_places(const ProgramCase& program, Features& out) {
  if (program.machine.empty()) return;
  Machine machine = parse_machine(program.machine);
  if (machine.levels().size() > 1) out.insert("nested machine");
  if (machine.levels()[0].extents().size() > 1) out.insert("grid of pieces");
  for (const auto& [name, tensor] : program.tensors) {
    if (tensor.place.empty()) continue;
    out.insert("place");
    Distribution of = parse_distribution(tensor.place, machine).distribution;
    if (!of.fusions().empty()) out.insert("fused place");
    for (const auto& level : of.levels())
      for (const Placement& placement : level) {
        if (std::holds_alternative<int64_t>(placement.what())) out.insert("fixed place");
        if (std::holds_alternative<NonZero>(placement.what())) out.insert("place by non-zeros");
        if (const DistVar* var = placement.var(); var && of.dims_of(*var).empty()) out.insert("replicated place");
      }
  }
}

void look_at_schedule(const ProgramCase& program, Features& out) {
  if (program.commands.empty()) {
    out.insert("no schedule");
    return;
  }
  std::set<std::string> positions;  // variables that count positions, or parts of them
  std::set<std::string> weighed;    // variables that count blocks of equal weight
  bool distributed = false;
  int pos = 0;
  for (const std::string& command : program.commands) {
    std::string name = command.substr(0, command.find('('));
    std::vector<std::string> words;
    std::string word;
    for (char c : command.substr(name.size())) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\'') word += c;
      else if (!word.empty()) words.push_back(std::exchange(word, ""));
    }
    for (const std::string& w : words)
      if (w.find('\'') != w.npos) out.insert("name with a prime");
    out.insert(name);
    if (name == "divide" && command.find('{') != command.npos) out.insert("divide by weight"), weighed.insert(words[1]);
    bool counts = std::any_of(words.begin(), words.end(), [&](const std::string& w) { return positions.contains(w); });
    if (name == "pos") {
      pos++;
      if (distributed) out.insert("pos after distribute");
      positions.insert(words[1]);
    }
    if (name == "fuse" && counts) out.insert("fuse after pos"), positions.insert(words.back());
    if ((name == "divide" || name == "split") && counts) positions.insert(words[1]), positions.insert(words[2]);
    if (name == "distribute") {
      distributed = true;
      if (counts) out.insert("distribute positions");
      if (std::any_of(words.begin(), words.end(), [&](const std::string& w) { return weighed.contains(w); }))
        out.insert("distribute by weight");
    }
    if (name == "reorder" && counts) out.insert("reorder of positions");
    if (name == "communicate" && distributed) out.insert("communicate after distribute");
  }
  if (pos > 1) out.insert("several pos");
  if (pos > 0 && distributed) out.insert("positions in pieces");
}

}  // namespace

Features features_of(const ProgramCase& program) {
  Features out;
  Assignment assignment = tree_of(program);
  look_at_expression(assignment, out);
  look_at_names(assignment, out);
  for (const auto& [name, tensor] : program.tensors) look_at_tensor(tensor, out);
  look_at_places(program, out);
  look_at_schedule(program, out);
  out.insert("ranks " + std::to_string(program.setting.ranks));
  out.insert("threads " + std::to_string(program.setting.threads));
  if (program.setting.gpus > 0) out.insert("gpus " + std::to_string(program.setting.gpus));
  out.insert(program.setting.leaves == Leaves::Compiled ? "compiled" : "interpreted");
  return out;
}

bool has_any(const ProgramCase& program, const Features& some) {
  Features features = features_of(program);
  return std::any_of(some.begin(), some.end(), [&](const std::string& f) { return features.contains(f); });
}

bool has_all(const ProgramCase& program, const Features& some) {
  Features features = features_of(program);
  return std::includes(features.begin(), features.end(), some.begin(), some.end());
}

const Features& open_faults() {
  static const Features all = {};
  return all;
}

}  // namespace spdistal::test
