#include "support/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text.hpp"
#include "notation/arithmetic.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "support/elements.hpp"
#include "support/formats.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

using Candidates = std::vector<ProgramCase>;

std::vector<notation::Access> accesses_of(const Assignment& assignment) {
  std::vector<notation::Access> out{assignment.lhs};
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) { out.push_back(access); });
  return out;
}

// The program with another statement, without the tensors that it no longer names.
ProgramCase with_statement(const ProgramCase& program, const Assignment& assignment) {
  ProgramCase out = program;
  out.statement = print(assignment);
  std::set<std::string> used;
  for (const TensorVar& tensor : tensors(assignment)) used.insert(tensor.symbol().name());
  std::erase_if(out.tensors, [&](const auto& tensor) { return !used.contains(tensor.first); });
  return out;
}

// An element of an array for another, with whether it is stored.
void take(const reference::DenseArray& from, const std::vector<int64_t>& at, reference::DenseArray& to,
          size_t position) {
  size_t old = from.position(at);
  to.values[position] = from.values[old];
  if (from.absent.empty()) return;
  to.absent.resize(to.values.size());
  to.absent[position] = from.absent[old];
}

// The part of an array that a smaller one has; `kept` are its dimensions that remain, the others stand at 0.
reference::DenseArray part(const reference::DenseArray& array, const std::vector<size_t>& kept,
                           const std::vector<int64_t>& dims) {
  reference::DenseArray out(array.type, dims);
  each_element(dims, [&](const std::vector<int64_t>& at, size_t position) {
    std::vector<int64_t> from(array.dims.size(), 0);
    for (size_t d = 0; d < kept.size(); d++) from[kept[d]] = at[d];
    take(array, from, out, position);
  });
  return out;
}

// ---- the ways to make a program smaller, each with its candidates, the boldest first ---------------------------------

Candidates fewer_commands(const ProgramCase& program) {
  Candidates out;
  size_t count = program.commands.size();
  // Later ones build on earlier ones: the last go first.
  for (size_t length = count; length > 0; length = length == 1 ? 0 : (length + 1) / 2)
    for (size_t end = count; end >= length; end--) {
      out.push_back(program);
      auto first = out.back().commands.begin() + long(end - length);
      out.back().commands.erase(first, first + long(length));
    }
  return out;
}

// Fewer ranks and threads, and leaves that need no compiler.
Candidates simpler_setting(const ProgramCase& program) {
  Candidates out;
  auto change = [&](auto&& make) {
    out.push_back(program);
    make(out.back().setting);
  };
  if (program.setting.ranks > 1) change([](Setting& s) { s.ranks = 1; });
  if (program.setting.ranks > 2) change([](Setting& s) { s.ranks--; });
  if (program.setting.threads > 1) change([](Setting& s) { s.threads = 1; });
  if (program.setting.leaves == Leaves::Compiled) change([](Setting& s) { s.leaves = Leaves::Interpreted; });
  if (program.setting.gpus > 1) change([](Setting& s) { s.gpus = 1; });
  if (program.setting.gpus > 2) change([](Setting& s) { s.gpus--; });
  if (program.setting.gpus > 0) {
    change([](Setting& s) { s.gpus = 0; });
    std::string& machine = out.back().machine;
    machine = machine.substr(0, machine.find(','));
  }
  return out;
}

Candidates fewer_places(const ProgramCase& program) {
  Candidates out;
  for (const auto& [name, tensor] : program.tensors)
    if (!tensor.place.empty()) {
      out.push_back(program);
      out.back().tensors.at(name).place.clear();
    }
  bool used = out.size() > 0 || join(program.commands, ";").find("M.") != std::string::npos;
  if (!used && !program.machine.empty()) {
    out.push_back(program);
    out.back().machine.clear();
  }
  return out;
}

// Texts with one whole number of at least two replaced by a smaller one: 1, 2, one less.
std::vector<std::string> with_smaller_number(const std::string& text) {
  std::vector<std::string> out;
  auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\'' || c == '.';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_word(text[end])) end++;
    std::string word = text.substr(at, end - at);
    if (!word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos && std::stol(word) > 1)
      for (long to : std::set<long>{1, 2, std::stol(word) - 1})
        if (to < std::stol(word)) out.push_back(text.substr(0, at) + std::to_string(to) + text.substr(end));
    at = end + 1;
  }
  return out;
}

Candidates smaller_machine(const ProgramCase& program) {
  Candidates out;
  std::string spaced;  // the x of a grid stands between numbers
  for (char c : program.machine) spaced += c == 'x' ? std::string(" x ") : std::string(1, c);
  for (std::string machine : with_smaller_number(spaced)) {
    std::erase(machine, ' ');
    out.push_back(program);
    out.back().machine = machine;
  }
  return out;
}

// Of pieces, of splits, of literals.
Candidates smaller_numbers(const ProgramCase& program) {
  Candidates out;
  for (size_t k = 0; k < program.commands.size(); k++)
    for (const std::string& command : with_smaller_number(program.commands[k])) {
      out.push_back(program);
      out.back().commands[k] = command;
    }
  for (const std::string& statement : with_smaller_number(program.statement)) {
    out.push_back(program);
    out.back().statement = statement;
  }
  return out;
}

// A text with a name replaced wherever it stands as a whole word.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
  std::string out;
  auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\''; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_name(text[end])) end++;
    std::string word = text.substr(at, end - at);
    out += word == from ? to : word;
    if (end < text.size()) out += text[end++];
    at = end;
  }
  return out;
}

// Tensors called by capital letters, variables by small ones from i on; all the rest stays.
Candidates plain_names(const ProgramCase& program) {
  Candidates out;
  Assignment assignment = tree_of(program);
  std::string everything = program.statement + " " + join(program.commands, " ");
  auto is_free = [&](const std::string& name) { return renamed(everything, name, name + name) == everything; };
  auto rename_to = [&](const std::string& from, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), from) != names.end()) return;
    auto to = std::find_if(names.begin(), names.end(), is_free);
    if (to == names.end()) return;
    ProgramCase changed = program;
    changed.statement = renamed(program.statement, from, *to);
    for (std::string& command : changed.commands) command = renamed(command, from, *to);
    if (auto tensor = changed.tensors.extract(from)) {
      tensor.key() = *to;
      std::string& place = tensor.mapped().place;
      if (size_t open = place.find('('); !place.empty()) place = *to + place.substr(open);
      changed.tensors.insert(std::move(tensor));
    }
    out.push_back(std::move(changed));
  };
  for (const TensorVar& tensor : tensors(assignment))
    rename_to(tensor.symbol().name(), {"A", "B", "C", "D", "E", "F", "G", "a", "b", "c", "d", "s", "x", "y", "z"});
  for (const IndexVar& var : variables(assignment)) rename_to(var.name(), {"i", "j", "k", "l", "m", "n"});
  return out;
}

// Every expression with one node replaced by one of its children.
std::vector<Expr> smaller(const Expr& expr) {
  std::vector<Expr> parts, out;
  children(expr, [&](const Expr& child) { parts.push_back(child); });
  out = parts;
  for (size_t k = 0; k < parts.size(); k++)
    for (const Expr& by : smaller(parts[k])) {
      size_t at = 0;
      out.push_back(map_children(expr, [&](const Expr& child) { return at++ == k ? by : child; }));
    }
  return out;
}

Candidates fewer_operands(const ProgramCase& program) {
  Candidates out;
  Assignment assignment = tree_of(program);
  for (const Expr& rhs : smaller(assignment.rhs))
    out.push_back(with_statement(program, {assignment.lhs, assignment.op, rhs}));
  if (assignment.op != AssignOp::Set)
    out.push_back(with_statement(program, {assignment.lhs, AssignOp::Set, assignment.rhs}));
  return out;
}

Format without_levels(const Format& format, const std::vector<size_t>& kept) {
  std::vector<LevelFormat> levels;
  std::vector<int> order;
  for (size_t k = 0; k < format.order(); k++) {
    auto at = std::find(kept.begin(), kept.end(), size_t(format.mode_order()[k]));
    if (at == kept.end()) continue;
    levels.push_back(format.levels()[k]);
    order.push_back(int(at - kept.begin()));
  }
  return Format(levels, order);
}

// Without a variable, and the dimensions that it indexes.
Candidates fewer_dimensions(const ProgramCase& program) {
  Candidates out;
  Assignment assignment = tree_of(program);
  for (const IndexVar& var : variables(assignment)) try {
      std::map<TensorVar, std::pair<TensorVar, std::vector<size_t>>> changed;  // with the dimensions that remain
      bool alike = true;
      for (const notation::Access& access : accesses_of(assignment)) {
        std::vector<size_t> kept;
        for (size_t d = 0; d < access.indices.size(); d++)
          if (access.indices[d] != var) kept.push_back(d);
        TensorVar tensor({access.tensor.symbol(), access.tensor.type(), std::vector<Extent>(kept.size(), Extent(1)),
                          dense_format(kept.size())});
        alike &= changed.try_emplace(access.tensor, tensor, kept).first->second.second == kept;
      }
      if (!alike) continue;
      auto shorter = [&](const notation::Access& access) {
        notation::Access to{changed.at(access.tensor).first, {}};
        for (size_t d : changed.at(access.tensor).second) to.indices.push_back(access.indices[d]);
        return to;
      };
      Expr rhs = rewrite(assignment.rhs, [&](const notation::Access& access) -> Expr { return shorter(access); });
      rhs = rewrite(rhs, [&](const Reduction& n) -> Expr { return n.var == var ? n.body : Expr(n); });
      ProgramCase smaller = with_statement(program, {shorter(assignment.lhs), assignment.op, rhs});
      for (const auto& [tensor, to] : changed) {
        const std::vector<size_t>& kept = to.second;
        TensorCase& data = smaller.tensors.at(tensor.symbol().name());
        std::vector<int64_t> dims;
        std::vector<bool> literals;
        for (size_t d : kept) dims.push_back(data.array.dims[d]), literals.push_back(data.literals[d]);
        if (data.array.values.empty()) data.array = reference::DenseArray(data.array.type, dims);
        else data.array = part(data.array, kept, dims);
        data.format = without_levels(data.format, kept);
        data.literals = literals;
        data.place.clear();
      }
      out.push_back(smaller);
    } catch (const UserError&) {}  // no format is left: another variable
  return out;
}

// The variables that have the size of this one because they index the same dimension of a tensor.
std::set<IndexVar> of_one_size(const Assignment& assignment, const IndexVar& var) {
  std::set<IndexVar> out{var};
  for (size_t before = 0; before != out.size();) {
    before = out.size();
    std::set<std::pair<TensorVar, size_t>> dims;
    for (const notation::Access& access : accesses_of(assignment))
      for (size_t d = 0; d < access.indices.size(); d++)
        if (out.contains(access.indices[d])) dims.emplace(access.tensor, d);
    for (const notation::Access& access : accesses_of(assignment))
      for (size_t d = 0; d < access.indices.size(); d++)
        if (dims.contains({access.tensor, d})) out.insert(access.indices[d]);
  }
  return out;
}

// A variable with fewer values: none, one, one less; the first ones stay, or the last.
Candidates smaller_sizes(const ProgramCase& program) {
  Candidates out;
  Assignment assignment = tree_of(program);
  std::set<IndexVar> seen;
  for (const IndexVar& var : variables(assignment)) {
    std::set<IndexVar> group = of_one_size(assignment, var);
    if (!seen.insert(*group.begin()).second) continue;
    std::map<std::string, std::set<size_t>> dims;
    int64_t size = 0;
    for (const notation::Access& access : accesses_of(assignment))
      for (size_t d = 0; d < access.indices.size(); d++)
        if (group.contains(access.indices[d])) {
          dims[access.tensor.symbol().name()].insert(d);
          size = program.tensors.at(access.tensor.symbol().name()).array.dims[d];
        }
    std::set<int64_t> sizes{0, 1, size - 1};
    for (int64_t to : sizes) {
      if (to < 0 || to >= size) continue;
      for (int64_t shift : std::set<int64_t>{0, to == 0 ? 0 : size - to}) {
        out.push_back(program);
        for (const auto& [name, which] : dims) {
          TensorCase& tensor = out.back().tensors.at(name);
          reference::DenseArray& array = tensor.array;
          std::vector<int64_t> smaller = array.dims;
          for (size_t d : which) smaller[d] = to;
          reference::DenseArray from = array;
          array = reference::DenseArray(from.type, smaller);
          each_element(smaller, [&, &which = which](const std::vector<int64_t>& at, size_t position) {
            std::vector<int64_t> old = at;
            for (size_t d : which) old[d] += shift;
            take(from, old, array, position);
          });
          if (tensor.format.blocks().empty()) continue;
          tensor.format = may_be_blocks(smaller) ? in_blocks(tensor.format, smaller) : without_blocks(tensor.format);
        }
      }
    }
  }
  return out;
}

// Sizes that all come with the data, or are all known to the kernel: a command line cannot mix them in one variable.
Candidates plain_sizes(const ProgramCase& program) {
  Candidates out;
  bool any = false, all = true;
  for (const auto& [name, tensor] : program.tensors)
    for (bool literal : tensor.literals) any |= literal, all &= literal;
  auto set = [&](bool literal) {
    out.push_back(program);
    for (auto& [name, tensor] : out.back().tensors) tensor.literals.assign(tensor.literals.size(), literal);
  };
  if (any) set(false);
  if (any && !all) set(true);
  return out;
}

Candidates plain_storage(const ProgramCase& program) {
  Candidates out;
  auto change = [&](const std::string& name, auto&& make) {
    ProgramCase changed = program;
    try {
      TensorCase& tensor = changed.tensors.at(name);
      make(tensor);
      if (tensor.format.is_dense()) tensor.array.absent.clear();  // all of it is stored
      out.push_back(changed);
    } catch (const UserError&) {}  // no such format
  };
  for (const auto& [name, tensor] : program.tensors) {
    const Format& format = tensor.format;
    if (tensor.array.type != ScalarType::Float64)
      change(name, [](TensorCase& t) {
        reference::DenseArray to(ScalarType::Float64, t.array.dims);
        for (size_t k = 0; k < to.values.size(); k++)
          to.values[k] = notation::convert(t.array.values[k], ScalarType::Float64);
        to.absent = t.array.absent;
        t.array = to;
      });
    if (!format.blocks().empty()) change(name, [](TensorCase& t) { t.format = without_blocks(t.format); });
    if (format == dense_format(format.order())) continue;
    change(name, [](TensorCase& t) { t.format = dense_format(t.format.order()); });
    if (format != Format(format.levels())) change(name, [](TensorCase& t) { t.format = Format(t.format.levels()); });
    for (size_t k = 0; k < format.order(); k++)
      for (LevelFormat plain : {LevelFormat(Dense), LevelFormat(Compressed)}) {
        if (format.levels()[k] == plain || (format.levels()[k] == LevelFormat(Dense))) continue;
        change(name, [&](TensorCase& t) {
          std::vector<LevelFormat> levels = format.levels();
          levels[k] = plain;
          t.format = Format(levels, format.mode_order());
        });
      }
  }
  return out;
}

void drop(reference::DenseArray& array, size_t position) {
  array.values[position] = notation::zero(array.type);
  if (!array.absent.empty()) array.absent[position] = true;
}

// Fewer elements that are not zero: all of a tensor go, or some in a row; those that stay turn into 1.
Candidates fewer_elements(const ProgramCase& program) {
  Candidates out;
  for (const auto& [name, tensor] : program.tensors) {
    std::vector<size_t> stored;
    Scalar one = notation::convert(Scalar(1.0), tensor.array.type);
    const std::vector<bool>& absent = tensor.array.absent;
    for (size_t k = 0; k < tensor.array.values.size(); k++)
      if (absent.empty() ? !notation::is_zero(tensor.array.values[k]) : !absent[k]) stored.push_back(k);
    for (size_t length = stored.size(); length > 0; length = length == 1 ? 0 : (length + 1) / 2)
      for (size_t first = 0; first + length <= stored.size(); first += length) {
        out.push_back(program);
        for (size_t k = first; k < first + length; k++) drop(out.back().tensors.at(name).array, stored[k]);
      }
    for (size_t k : stored)
      if (tensor.array.values[k] != one) {
        out.push_back(program);
        out.back().tensors.at(name).array.values[k] = one;
      }
  }
  return out;
}

}  // namespace

// What is refused does not count: it is another program.
FindFault once_built(std::function<std::optional<std::string>(const BuiltProgram&)> find) {
  return [find = std::move(find)](const ProgramCase& program) -> std::optional<std::string> {
    try {
      return find(build(program));
    } catch (const UserError&) { return std::nullopt; }
  };
}

std::optional<Shrunk> shrink(const ProgramCase& program, const FindFault& find, int limit) {
  int tried = 0;
  auto fault_of = [&](const ProgramCase& candidate) {
    tried++;
    return find(candidate);
  };
  std::optional<std::string> fault = fault_of(program);
  if (!fault) return std::nullopt;
  Shrunk out{program, *fault};
  for (bool changed = true; changed && tried < limit;) {
    changed = false;
    for (auto candidates :
         {simpler_setting, fewer_commands, fewer_places, smaller_machine, fewer_operands, fewer_dimensions,
          smaller_sizes, smaller_numbers, plain_storage, plain_sizes, plain_names, fewer_elements})
      for (bool again = true; again && tried < limit;) {
        again = false;
        for (const ProgramCase& candidate : candidates(out.program)) {
          if (tried >= limit) break;
          std::optional<std::string> still = fault_of(candidate);
          if (!still) continue;
          out.program = candidate;
          out.fault = *still;
          changed = again = true;
          break;
        }
      }
  }
  out.tried = tried;
  return out;
}

std::string report(const std::string& test, uint64_t seed, const ProgramCase& program, const FindFault& find,
                   int limit) {
  std::string out = fmt::format("{}, seed {}: ", test, seed), drawn = indent(describe(program), 2);
  std::optional<Shrunk> small;
  try {
    small = shrink(program, find, limit);
  } catch (const std::exception& error) { out += fmt::format("(shrinking it failed: {}) ", error.what()); }
  if (!small)
    return out + fmt::format("it has no fault once it is written down, and so stays as it was drawn\n{}\n", drawn);
  std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("spdistal-{}-{}", test, seed);
  out += fmt::format("{}\n\nshrunk to ({} programs tried)\n{}\n\n", small->fault.substr(0, small->fault.find('\n')),
                     small->tried, indent(describe(small->program), 2));
  out += fmt::format("run again with\n  {} {}\n\n", prefix_of(small->program.setting),
                     command_line(as_text(small->program, folder)));
  return out + fmt::format("what is wrong\n{}\n\ndrawn as, {}\n{}\n", indent(small->fault, 2),
                           prefix_of(program.setting), drawn);
}

}  // namespace spdistal::test
