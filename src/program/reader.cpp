#include "program/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "machine/parse.hpp"
#include "machine/print.hpp"
#include "schedule/extents.hpp"
#include "schedule/parse.hpp"

namespace spdistal {

using namespace notation;

namespace {

// An error inside a part of an option's text, shown on all of it.
template <class F>
auto within(const std::string& text, size_t offset, F&& read) {
  try {
    return read(std::string_view(text).substr(offset));
  } catch (const UserError& error) {
    Diagnostic d = error.diagnostic();
    if (d.excerpts.empty()) d.excerpts.push_back({text, offset, text.size()});
    for (Excerpt& e : d.excerpts)
      if (e.text == text.substr(offset)) e = {text, e.begin + offset, e.end + offset};
    throw UserError(d);
  }
}

// The name before ':' or '=' of an option.
std::string name_of_option(const std::string& option, char mark) {
  return std::string(trim(std::string_view(option).substr(0, std::min(option.find(mark), option.size()))));
}

[[noreturn]] void fail(const std::string& text, size_t begin, size_t end, std::string message, std::string hint = {}) {
  throw UserError(Diagnostic{std::move(message), {{text, begin, end}}, std::move(hint)});
}

// "B:ds" -> the tensor's name, and where the rest begins.
std::pair<std::string, size_t> named(const std::string& text, std::string_view what, std::string_view example) {
  size_t colon = text.find(':');
  std::string name(trim(text.substr(0, std::min(colon, text.size()))));
  if (colon == text.npos || !is_identifier(name))
    fail(text, 0, text.size(), fmt::format("expected a tensor and its {}", what), fmt::format("write {}", example));
  return {name, colon + 1};
}

// Of a tensor in memory everything is settled.
void refuse_given(const std::string& option, const std::string& name, std::string_view what, const GivenTensor* given) {
  if (given)
    fail(option, 0, name.size(), fmt::format("{} is in memory and has its {} already", name, what),
         "say it of the result, or make the tensor so");
}

}  // namespace

ProgramReader::ProgramReader(const ProgramText& text, std::vector<GivenTensor> given)
    : text_(text), given_(std::move(given)) {}

StatementState ProgramReader::statement() {
  if (text_.machine) machine_ = parse_machine(*text_.machine);
  for (const std::string& option : text_.formats) read_format(option);
  for (const std::string& option : text_.types) read_type(option);
  for (const std::string& option : text_.sizes) read_size(option);
  for (const std::string& option : text_.distributions) read_distribution(option);

  read_windows();
  read_blocks();
  scope_.declare = [&](const Lexer& in, const Token& name, const std::vector<IndexVar>& indices) {
    return declare(in, name, indices);
  };
  Assignment assignment = parse_assignment(text_.statement, scope_);
  scope_.declare = nullptr;
  all_used();
  StatementState out = say(assignment);
  // That of the machine is only assumed.
  const std::string& result = assignment.lhs.tensor.symbol().name();
  if (!distributions_.contains(result) && !given(result)) out.residence = Residence::Anywhere;
  if (!trim(text_.schedule).empty()) {
    schedule::Scheduled scheduled =
        schedule::apply_text(text_.schedule, {scope_, machine_ ? &*machine_ : nullptr}, out.scheduled);
    out.commands = std::move(scheduled.commands);
    out.scheduled = std::move(scheduled.statement);
    schedule::check_extents(out.scheduled).value();
  }
  return out;
}

std::vector<TensorVar> ProgramReader::placed() const {
  std::vector<TensorVar> out;
  for (const std::string& name : placed_) out.push_back(scope_.tensors.find(name)->second);
  return out;
}

// ---- options ------------------------------------------------------------------------------------------------------------

void ProgramReader::read_format(const std::string& option) {
  auto [name, rest] = named(option, "format", "B:ds, or B:ds:1,0 with the order of its dimensions");
  refuse_given(option, name, "format", given(name));
  Format format = within(option, rest, [](std::string_view s) { return Format::parse(s); });
  if (!formats_.emplace(name, format).second)
    fail(option, 0, name.size(), fmt::format("{} has a format already", name), "give each tensor one format");
}

void ProgramReader::read_type(const std::string& option) {
  auto [name, rest] = named(option, "type", "B:float");
  std::string word(trim(std::string_view(option).substr(rest)));
  refuse_given(option, name, "type", given(name));
  std::vector<std::string> known;
  if (types_.contains(name))
    fail(option, 0, name.size(), fmt::format("{} has a type already", name), "give each tensor one type");
  for (ScalarType type : all_scalar_types) {
    known.emplace_back(name_of(type));
    if (known.back() == word) types_.insert_or_assign(name, type);
  }
  if (!types_.contains(name))
    fail(option, rest, option.size(), fmt::format("'{}' is no element type", word),
         suggest(word, known, "the types are"));
}

void ProgramReader::read_size(const std::string& option) {
  Lexer in(option, "size");
  int64_t size = 0;
  std::string name = with_hint("the size of a variable is written i=1000", [&] {
    std::string var(in.expect_name("an index variable").text);
    in.expect("=");
    size = in.expect_integer("a number");
    in.expect_end();
    return var;
  });
  if (!sizes_.emplace(name, size).second)
    fail(option, 0, name.size(), fmt::format("{} has a size already", name), "give each variable one size");
}

void ProgramReader::read_distribution(const std::string& option) {
  if (!machine_)
    fail(option, 0, option.size(), "there is no machine to distribute over", "give one with -m, such as -m 4");
  ParsedDistribution parsed = parse_distribution(option, *machine_);
  refuse_given(option, parsed.tensor, "place", given(parsed.tensor));
  if (!distributions_.emplace(parsed.tensor, std::pair{parsed.distribution, option}).second)
    fail(option, 0, parsed.tensor.size(), fmt::format("{} is distributed already", parsed.tensor),
         "give each tensor one distribution");
  placed_.push_back(parsed.tensor);
}

// Variables inside of blocks have the sizes of these, wherever in the statement they stand first; not where windows are taken of
// blocks, nor beside those that are open.
void ProgramReader::read_blocks() {
  bool any = std::any_of(formats_.begin(), formats_.end(), [](const auto& f) { return !f.second.blocks().empty(); });
  if (!any) return;
  ParseScope names;
  names.declare = [&](const Lexer& in, const Token& token, const std::vector<IndexVar>& indices) {
    auto format = formats_.find(std::string(token.text));
    if (format != formats_.end() && format->second.order() == indices.size())
      for (size_t d = 0; d < format->second.blocks().size(); d++) {
        int64_t size = format->second.blocks()[d];
        const IndexVar& index = indices[indices.size() / 2 + d];
        std::string var = index.name();
        if (index.window() || open_.contains(var)) continue;
        if (auto known = sizes_.emplace(var, size).first; known->second != size)
          in.fail(token.begin, in.previous_end(),
                  fmt::format("the size of {} is {}, but {} in the blocks of {}", var, known->second, size, token.text),
                  "a variable inside of blocks has their size, in every tensor");
      }
    std::vector<Extent> dims;
    for (size_t d = 0; d < indices.size(); d++) dims.push_back(Param());
    return TensorVar({Symbol(std::string(token.text)), ScalarType::Float64, dims, dense_format(indices.size())});
  };
  parse_assignment(text_.statement, names);
}

// Variables with an open window: other accesses need not have their size.
void ProgramReader::read_windows() {
  ParseScope names;
  names.declare = [](const Lexer&, const Token& token, const std::vector<IndexVar>& indices) {
    return TensorVar({Symbol(std::string(token.text)), ScalarType::Float64,
                      std::vector<Extent>(indices.size(), Param()), dense_format(indices.size())});
  };
  try {
    for (const IndexVar& index : windows(parse_assignment(text_.statement, names)))
      if (const Window* window = index.window(); window->of && !window->end) open_.insert(window->of->name());
  } catch (const UserError&) {
    // It is read again, and refused then.
  }
}

// ---- tensors ------------------------------------------------------------------------------------------------------------

const GivenTensor* ProgramReader::given(const std::string& name) const {
  auto found = std::find_if(given_.begin(), given_.end(), [&](const GivenTensor& t) { return t.name == name; });
  return found == given_.end() ? nullptr : &*found;
}

TensorVar ProgramReader::declare(const Lexer& in, const Token& token, const std::vector<IndexVar>& indices) {
  std::string name(token.text);
  const GivenTensor* there = given(name);
  auto type = types_.find(name);
  Format format = format_of(in, token, indices.size());
  ScalarType held = type == types_.end() ? ScalarType::Float64 : type->second;
  tensors_.push_back(
      all_tensors().make(TensorVar({Symbol(name), there ? there->type : held, extents_of(name, indices), format})));
  return tensors_.back()->var;
}

Format ProgramReader::format_of(const Lexer& in, const Token& token, size_t order) const {
  std::string name(token.text);
  const GivenTensor* there = given(name);
  Format format = dense_format(order);
  if (auto said = formats_.find(name); said != formats_.end()) format = said->second;
  if (there) format = there->format;
  if (format.order() != order)
    in.fail(token.begin, in.previous_end(),
            fmt::format("{} is indexed by {} variable{}, but its format '{}' is for {}", name, order,
                        order == 1 ? "" : "s", format.str(), format.order()),
            there ? "give one variable for each dimension" : "give one letter for each dimension");
  if (there) return format;
  if (auto said = distributions_.find(name); said != distributions_.end()) {
    const auto& [distribution, option] = said->second;
    try {
      format = Format(format, distribution);
    } catch (const UserError& error) {
      // Shown over the text as it was written.
      const Diagnostic& d = error.diagnostic();
      throw UserError(Diagnostic{d.message, {as_written(d.excerpts.at(0), option)}, d.hint});
    }
  }
  return machine_ && !format.distribution() ? Format(format, default_distribution(format)) : format;
}

std::vector<Extent> ProgramReader::extents_of(const std::string& name, const std::vector<IndexVar>& indices) {
  if (const GivenTensor* there = given(name)) return {there->dims.begin(), there->dims.end()};
  std::vector<Extent> out;
  bool result = tensors_.empty();
  std::vector<int64_t> blocks;
  if (auto format = formats_.find(name); format != formats_.end()) blocks = format->second.blocks();
  for (size_t d = 0; d < indices.size(); d++) {
    const IndexVar& var = indices[d];
    if (d >= indices.size() - blocks.size()) {
      out.emplace_back(blocks[d + blocks.size() - indices.size()]);
      continue;
    }
    bool open = open_.contains(var.name()) && !result;
    auto size = open ? sizes_.end() : sizes_.find(var.name());
    if (size != sizes_.end()) out.emplace_back(size->second);
    else if (open || var.window()) out.emplace_back(Param());
    else out.emplace_back(params_.try_emplace(var.name(), Param()).first->second);
  }
  return out;
}

// The dimensions of the machine cut the levels of a tensor in the order in which they are stored; where there are more
// of them, the tensor lives at the first coordinate of the others. A scalar is everywhere.
Distribution ProgramReader::default_distribution(const Format& format) const {
  std::vector<DistVar> dims(format.order());
  std::vector<std::vector<Placement>> levels;
  size_t next = 0;
  for (const Grid& grid : machine_->levels()) {
    levels.emplace_back();
    for (size_t k = 0; k < grid.extents().size(); k++, next++) {
      if (format.order() == 0) levels.back().push_back(DistVar());
      else if (next < format.order()) levels.back().push_back(dims[size_t(format.mode_order()[next])]);
      else levels.back().push_back(0);
    }
  }
  return Distribution(dims, {}, *machine_, levels);
}

// Everything said about a tensor or a variable must be about one of the statement.
void ProgramReader::all_used() const {
  auto known = [](const auto& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
  };
  auto check = [&](const std::string& option, const std::string& name) {
    if (!scope_.tensors.contains(name))
      fail(option, 0, name.size(), fmt::format("there is no tensor '{}' in the statement", name),
           suggest(name, known(scope_.tensors), "its tensors are"));
  };
  for (const GivenTensor& tensor : given_) check(tensor.name, tensor.name);
  for (const std::string& option : text_.formats) check(option, name_of_option(option, ':'));
  for (const std::string& option : text_.types) check(option, name_of_option(option, ':'));
  for (const std::vector<std::string>* options : {&text_.inputs, &text_.generators, &text_.outputs})
    for (const std::string& option : *options) check(option, name_of_option(option, ':'));
  for (const auto& [name, given] : distributions_) check(given.second, name);
  for (const std::string& option : text_.sizes)
    if (std::string name = name_of_option(option, '='); !scope_.variables.contains(name))
      fail(option, 0, name.size(), fmt::format("there is no variable '{}' in the statement", name),
           suggest(name, known(scope_.variables), "its variables are"));
}

}  // namespace spdistal
