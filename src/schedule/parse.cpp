#include "schedule/parse.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"

namespace spdistal::schedule {
namespace {

// Reads one value of each type that parameters have.
class ScheduleReader {
 public:
  ScheduleReader(Lexer& in, const KnownNames& names) : in_(in), names_(names) {}

  IndexVar read(std::type_identity<IndexVar>, std::string_view what) {
    return names_.scope.variable(in_.expect_name(fmt::format("the variable '{}'", what)).text);
  }
  int64_t read(std::type_identity<int64_t>, std::string_view what) {
    if (in_.at("-")) in_.fail(in_.peek(), fmt::format("'{}' is a number that is not negative", what));
    return in_.expect_integer(fmt::format("the number '{}'", what));
  }
  Pieces read(std::type_identity<Pieces>, std::string_view what) {
    if (in_.peek().kind != Token::Kind::Name) return Pieces(read(std::type_identity<int64_t>{}, what));
    return machine_dimension();
  }
  TensorRef read(std::type_identity<TensorRef>, std::string_view) {
    Token name = in_.expect_name("the name of a tensor");
    return TensorRef(std::make_shared<const notation::TensorVar>(names_.scope.tensor(in_, name)));
  }
  Expression read(std::type_identity<Expression>, std::string_view) {
    return Expression(notation::parse_expression(in_, names_.scope));
  }
  WorkspaceName read(std::type_identity<WorkspaceName>, std::string_view) {
    return std::string(in_.expect_name("a name for the workspace").text);
  }
  LeafName read(std::type_identity<LeafName>, std::string_view) {
    return std::string(in_.expect_name("the name of a routine").text);
  }
  template <class E>
    requires std::is_enum_v<E> E read(std::type_identity<E>, std::string_view) {
      Token token = in_.expect_name(fmt::format("a {}", Words<E>::what));
      std::vector<std::string> words(std::begin(Words<E>::names), std::end(Words<E>::names));
      for (size_t i = 0; i < words.size(); i++)
        if (words[i] == token.text) return E(i);
      in_.fail(token, fmt::format("'{}' is no {}", token.text, Words<E>::what),
               suggest(token.text, words, "choose from"));
    }
  // {a, b}, or a bare list where nothing but the end of the command follows.
  template <class T>
  std::vector<T> read(std::type_identity<std::vector<T>>, std::string_view what) {
    std::vector<T> out;
    bool braces = in_.accept("{");
    if (braces && in_.accept("}")) return out;
    do out.push_back(read(std::type_identity<T>{}, what));
    while ((braces || last) && in_.accept(","));
    if (braces) in_.expect("}");
    return out;
  }

  // A parameter of a command, with the comma before it.
  template <class P>
  typename P::Type param(const P& p, size_t index, size_t count) {
    last = index + 1 == count;
    using T = typename P::Type;
    if constexpr (std::is_default_constructible_v<T>)
      if (p.role == Role::Optional && in_.at(")")) return T{};
    if (index > 0) in_.expect(",");
    return read(std::type_identity<T>{}, p.name);
  }

 private:
  // M.x, M[1].y
  Pieces machine_dimension() {
    Token name = in_.expect_name("a number of pieces");
    if (name.text != "M")
      in_.fail(name, fmt::format("'{}' is no number of pieces", name.text),
               "write a number, or a dimension of the machine such as M.x");
    if (!names_.machine) in_.fail(name, "there is no machine", "give one with -m, such as -m 4, or write a number");
    size_t level = 0;
    if (in_.accept("[")) {
      level = size_t(in_.expect_integer("a level of the machine"));
      in_.expect("]");
    }
    in_.expect(".", "a dimension of the machine is written M.x");
    Token dim = in_.expect_name("x, y or z");
    size_t index = std::string_view("xyz").find(dim.text);
    if (dim.text == "dim") {
      in_.expect("(", "a dimension beyond z is written M.dim(3)");
      index = size_t(in_.expect_integer("the number of a dimension"));
      in_.expect(")");
    } else if (dim.text.size() != 1 || index == std::string_view::npos) {
      in_.fail(dim, fmt::format("the machine has no dimension '{}'", dim.text),
               "dimensions are x, y, z, and dim(3) for the fourth");
    }
    try {
      return names_.machine->dim(index, level);
    } catch (const UserError& error) {
      in_.fail(name.begin, in_.previous_end(), error.diagnostic().message, error.diagnostic().hint);
    }
  }

  Lexer& in_;
  const KnownNames& names_;
  bool last = false;
};

template <class C>
Command parse_as(Lexer& in, const KnownNames& names) {
  ScheduleReader reader(in, names);
  in.expect("(");
  constexpr size_t count = std::tuple_size_v<decltype(C::params)>;
  size_t index = 0;
  // Braces keep the order of evaluation.
  C command = std::apply([&](const auto&... p) { return C{reader.param(p, index++, count)...}; }, C::params);
  in.expect(")");
  return command;
}

template <class... C>
Command parse_any(Lexer& in, const Token& name, const KnownNames& names, const std::variant<C...>*) {
  std::optional<Command> out;
  // A command that is cut short or too long is shown with what it takes.
  auto read = [&]<class D>(const D*) {
    try {
      out = parse_as<D>(in, names);
    } catch (const UserError& error) {
      Diagnostic d = error.diagnostic();
      if (d.hint.empty())
        for (const std::string& signature : signatures())
          if (signature.starts_with(std::string(D::name) + "(")) d.hint = "it is written " + signature;
      throw UserError(d);
    }
    return true;
  };
  ((C::name == name.text && read(static_cast<const C*>(nullptr))) || ...);
  if (!out)
    in.fail(name, fmt::format("there is no command '{}'", name.text),
            suggest(name.text, {std::string(C::name)...}, "the commands are"));
  return *out;
}

}  // namespace

std::vector<ParsedCommand> parse(std::string_view text, const KnownNames& names) {
  Lexer in(text, "schedule");
  std::vector<ParsedCommand> out;
  while (!in.at_end()) {
    Token name = in.expect_name("a command", "commands are separated by one ';'");
    Command command = parse_any(in, name, names, static_cast<const Command*>(nullptr));
    size_t end = in.at_end() ? text.find_last_not_of(" \t\n") + 1 : in.peek().begin;
    out.push_back({std::move(command), name.begin, end});
    if (!in.at_end()) in.expect(";", "commands are separated by ';'");
  }
  return out;
}

Scheduled apply_text(std::string_view text, const KnownNames& names, notation::ConcreteStatement statement) {
  Scheduled out{{}, std::move(statement)};
  // A second sum over j has a loop of its own, which prints as j2: that is its name here too.
  notation::Printer printed;
  printed(out.statement);
  for (const IndexVar& var : loop_variables(out.statement.body)) names.scope.variables.emplace(printed.name(var), var);
  for (ParsedCommand& parsed : parse(text, names)) {
    Result<notation::ConcreteStatement> next = schedule::apply(parsed.command, out.statement);
    if (!next) {
      Diagnostic d = next.refusal();
      d.excerpts.insert(d.excerpts.begin(), {std::string(text), parsed.begin, parsed.end});
      throw UserError(d);
    }
    out.statement = *next;
    out.commands.push_back(std::move(parsed.command));
  }
  return out;
}

}  // namespace spdistal::schedule
