#include "machine/parse.hpp"

#include <fmt/format.h>

#include <map>

#include "base/lexer.hpp"
#include "machine/print.hpp"

namespace spdistal {
namespace {

constexpr std::string_view machine_hint = "machines are written 4, 2x2, 4,gpu or 2/4,gpu (two nodes of four GPUs)";

// The lexer takes "2x2" for a number with a suffix: split it here.
std::vector<Extent> parse_extents(Lexer& in) {
  std::vector<Extent> extents;
  do {
    Token token = in.next();
    if (token.kind != Token::Kind::Number)
      in.fail(token,
              token.text.empty() ? "expected the size of a grid" : fmt::format("'{}' is no size of a grid", token.text),
              std::string(machine_hint));
    for (size_t at = 0; at <= token.text.size();) {
      size_t stop = std::min(token.text.find('x', at), token.text.size());
      std::string_view part = token.text.substr(at, stop - at);
      Lexer number(part, "machine");
      if (part.empty() || part.find_first_not_of("0123456789") != part.npos)
        in.fail(token, fmt::format("'{}' is no size of a grid", token.text));
      if (part.size() > 18) in.fail(token, fmt::format("{} is larger than any machine", part));
      int64_t size = number.expect_integer("a size");
      if (size == 0) in.fail(token, "a grid dimension of 0 holds no processor", "write 1 for a single processor");
      extents.push_back(size);
      at = stop + 1;
    }
  } while (in.accept("*"));
  return extents;
}

Machine read_machine(std::string_view text) {
  Lexer in(text, "machine");
  std::vector<Grid> levels;
  do {
    std::vector<Extent> extents = parse_extents(in);
    Processor kind = CPU;
    if (in.accept(",")) {
      Token word = in.expect_name("'cpu' or 'gpu'");
      if (word.text != "cpu" && word.text != "gpu")
        in.fail(word, fmt::format("'{}' is no kind of processor", word.text), "the kinds are cpu and gpu");
      kind = word.text == "gpu" ? GPU : CPU;
    }
    levels.emplace_back(std::move(extents), kind);
  } while (in.accept("/"));
  if (!in.at_end()) in.fail(in.peek(), fmt::format("unexpected '{}'", in.peek().text));
  try {
    return Machine(std::move(levels));
  } catch (const UserError& error) {
    throw UserError(
        Diagnostic{error.diagnostic().message, {{std::string(text), 0, text.size()}}, error.diagnostic().hint});
  }
}

ParsedDistribution read_distribution(std::string_view text, const Machine& machine) {
  Lexer in(text, "distribution");
  std::map<std::string, DistVar, std::less<>> vars;
  auto var = [&](const Token& name) {
    return vars.try_emplace(std::string(name.text), std::string(name.text)).first->second;
  };
  auto names = [&](std::string_view what) {
    std::vector<DistVar> out;
    in.expect("(");
    if (in.accept(")")) return out;
    do out.push_back(var(in.expect_name(what)));
    while (in.accept(","));
    in.expect(")");
    return out;
  };

  std::string tensor(in.expect_name("the name of a tensor").text);
  std::vector<DistVar> dims = names("a name for a dimension");
  std::vector<DistFusion> fusions;
  while (in.peek().kind == Token::Kind::Name) {
    Token word = in.next();
    if (word.text != "fuse") in.fail(word, fmt::format("expected 'fuse' or '->', found '{}'", word.text));
    std::vector<DistVar> parts = names("a name for a dimension");
    if (parts.size() < 3)
      in.fail(word.begin, in.previous_end(), "a fusion takes two dimensions or more and a new name",
              "write fuse(x,y,f): the last name is the new one");
    DistVar fused = parts.back();
    parts.pop_back();
    fusions.push_back({std::move(parts), std::move(fused)});
  }
  in.expect("->");
  Token target = in.expect_name("the machine M");
  if (target.text != "M") in.fail(target, fmt::format("unknown machine '{}'", target.text), "the machine is called M");

  std::vector<std::vector<Placement>> levels;
  do {
    std::vector<Placement> level;
    in.expect("(");
    if (!in.at(")")) do {
        if (in.accept("~")) level.push_back(~var(in.expect_name("a name after ~")));
        else if (in.peek().kind == Token::Kind::Number)
          level.push_back(in.expect_integer("a coordinate of the machine"));
        else level.push_back(var(in.expect_name("a name, ~ and a name, or a coordinate")));
      } while (in.accept(","));
    in.expect(")");
    levels.push_back(std::move(level));
  } while (in.accept("/"));
  in.expect_end();

  try {
    return {tensor, Distribution(std::move(dims), std::move(fusions), machine, std::move(levels))};
  } catch (const UserError& error) {
    // Shown over the text as it was written.
    const Diagnostic& d = error.diagnostic();
    throw UserError(Diagnostic{d.message, {as_written(d.excerpts.at(0), text)}, d.hint});
  }
}

}  // namespace

Machine parse_machine(std::string_view text) {
  return with_hint(machine_hint, [&] { return read_machine(text); });
}

ParsedDistribution parse_distribution(std::string_view text, const Machine& machine) {
  return with_hint("a distribution is written B(x,y) -> M(x), or B(x,y) fuse(x,y,f) -> M(~f)",
                   [&] { return read_distribution(text, machine); });
}

}  // namespace spdistal
