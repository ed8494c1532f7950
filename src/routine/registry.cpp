#include "routine/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/text.hpp"
#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"

namespace spdistal::routine {

using namespace notation;

namespace {

// ---- what a routine says of itself ----

std::map<std::string, Format> formats_of(const LeafRoutine& said) {
  std::map<std::string, Format> out;
  for (const std::string& text : said.formats) {
    size_t colon = text.find(':');
    std::string name(trim(std::string_view(text).substr(0, std::min(colon, text.size()))));
    if (colon == text.npos || !is_identifier(name))
      throw UserError(fmt::format("the routine '{}' says '{}' of a format", said.name, text), "write B:ds");
    if (!out.emplace(name, Format::parse(std::string_view(text).substr(colon + 1))).second)
      throw UserError(fmt::format("the routine '{}' says twice how {} is stored", said.name, name),
                      "register it twice, once for each format");
  }
  return out;
}

// Sizes are anybody's.
Assignment parsed(const LeafRoutine& said, const std::map<std::string, Format>& formats) {
  std::map<IndexVar, Param> sizes;
  ParseScope scope;
  scope.declare = [&](const Lexer& in, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (const IndexVar& index : indices) {
      if (index.window()) in.fail(name, "a routine takes whole tensors", "leave windows to who calls it");
      dims.push_back(sizes.try_emplace(index).first->second);
    }
    auto format = formats.find(std::string(name.text));
    return TensorVar({Symbol(std::string(name.text)), said.types.empty() ? ScalarType::Float64 : said.types[0], dims,
                      format == formats.end() ? dense_format(indices.size()) : format->second});
  };
  Assignment out = parse_assignment(said.statement, scope);
  if (out.op != AssignOp::Set)
    throw UserError(fmt::format("the routine '{}' is to compute '{}'", said.name, said.statement),
                    "say what it computes by =: whether it is called to add is told with each call");
  check(out).value();
  for (const auto& [name, format] : formats)
    if (!scope.tensors.contains(name))
      throw UserError(fmt::format("the routine '{}' says how {} is stored, which it does not name", said.name, name));
  return out;
}

Assign innermost(const LeafRoutine& said, const Assignment& statement) {
  Stmt body = concretize(statement).value().body;
  while (const Forall* loop = body.as<Forall>()) body = loop->body;
  const Assign* assign = body.as<Assign>();
  if (!assign)
    throw UserError(fmt::format("the routine '{}' computes '{}', which takes a temporary", said.name, said.statement),
                    "a routine takes the place of one nest of loops around one assignment");
  return *assign;
}

}  // namespace

Routine::Routine(LeafRoutine said, Find find)
    : said_(std::move(said)), find_(std::move(find)), computes_([this] {
        if (!is_identifier(said_.name))
          throw UserError(fmt::format("'{}' is no name of a routine", said_.name), "take letters, digits and _");
        return innermost(said_, parsed(said_, formats_of(said_)));
      }()) {
  std::map<std::string, Format> formats = formats_of(said_);
  auto add = [&](const Access& access) {
    for (const RoutineTensor& known : tensors_)
      if (known.access.tensor == access.tensor)
        throw UserError(fmt::format("the routine '{}' names {} twice", said_.name, Printer().name(access.tensor)),
                        "give every access a tensor of its own: loops may have the same one in the place of several");
    std::string name = Printer().name(access.tensor);
    bool listed = formats.contains(name);
    tensors_.push_back({std::move(name), access, listed ? Storing::AsSaid : Storing::DenseInAnyOrder});
  };
  add(computes_.lhs);
  each<Access>(computes_.rhs, add);
}

std::string Routine::described() const {
  std::string out = said_.statement;
  std::vector<std::string> stored;
  for (const RoutineTensor& t : tensors_)
    if (t.storing == Storing::AsSaid)
      stored.push_back(fmt::format("{} stored as {}", t.name, t.access.tensor.format().str()));
  out += stored.empty() ? " of dense tensors" : fmt::format(" with {}", enumerate(stored));
  if (!stored.empty() && stored.size() < tensors_.size()) out += " and the others dense";
  std::vector<std::string> types;
  for (ScalarType type : said_.types) types.emplace_back(name_of(type));
  return types.empty() ? out : fmt::format("{}, all of {}", out, enumerate(types, "or"));
}

// ---- the table ----

namespace {

struct Table {
  std::mutex mutex;
  std::vector<RoutineHandle> all;
};

Table& table() {
  static Table& made = *[] {
    auto* out = new Table;
    for (auto* library : {&blas_routines, &cusparse_routines})
      for (Routine& routine : library()) out->all.push_back(std::make_shared<const Routine>(std::move(routine)));
    return out;
  }();
  return made;
}

}  // namespace

std::vector<RoutineHandle> routines(std::string_view name) {
  std::lock_guard lock(table().mutex);
  std::vector<RoutineHandle> out;
  for (const RoutineHandle& routine : table().all)
    if (routine->name() == name) out.push_back(routine);
  return out;
}

std::vector<std::string> names() {
  std::lock_guard lock(table().mutex);
  std::vector<std::string> out;
  for (const RoutineHandle& routine : table().all)
    if (std::find(out.begin(), out.end(), routine->name()) == out.end()) out.push_back(routine->name());
  return out;
}

std::string described(std::string_view name) {
  std::vector<RoutineHandle> all = routines(name);
  if (all.empty()) return "";
  return fmt::format("{} computes {}, on the {}", name,
                     join(all, "; or ", [](const RoutineHandle& r) { return r->described(); }),
                     all[0]->said().processor == GPU ? "GPU" : "CPU");
}

}  // namespace spdistal::routine

namespace spdistal {

const LeafArray& LeafLevel::array(std::string_view name) const {
  for (const LeafArray& array : arrays)
    if (array.name == name) return array;
  throw UserError(fmt::format("a level of a leaf's piece has no array '{}'", name),
                  arrays.empty() ? "it is dense, and has none"
                                 : "its arrays are " + join(arrays, ", ", [](const LeafArray& a) { return a.name; }));
}

const LeafTensor& LeafPiece::operator[](std::string_view name) const {
  for (const LeafTensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw UserError(fmt::format("a leaf's piece has no tensor '{}'", name),
                  "its tensors are " + join(tensors, ", ", [](const LeafTensor& t) { return t.name; }));
}

void register_leaf(LeafRoutine said) {
  if (!said.run) throw UserError(fmt::format("the routine '{}' does nothing", said.name), "give it a function: .run");
  auto find = [run = said.run](const routine::Libraries&) { return routine::FoundRoutine{run}; };
  auto fresh = std::make_shared<const routine::Routine>(std::move(said), find);
  routine::Table& table = routine::table();
  std::lock_guard lock(table.mutex);
  for (routine::RoutineHandle& known : table.all) {
    if (known->name() != fresh->name()) continue;
    if (known->said().processor != fresh->said().processor)
      throw UserError(fmt::format("there is a routine '{}' for another processor", fresh->name()),
                      "a name stands for routines of the CPU, or of GPUs");
    if (known->described() != fresh->described()) continue;
    known = fresh;
    return;
  }
  table.all.push_back(std::move(fresh));
}

}  // namespace spdistal
