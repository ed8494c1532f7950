#include "ir/steps.hpp"

#include <fmt/format.h>

#include "ir/print.hpp"

namespace spdistal::ir {

namespace {

const Var* launched(const Stmt& s) {
  if (auto* n = s.as<Parallel>()) return &n->share;
  auto* loop = s.as<For>();
  return loop && is_gpu(loop->kind) ? &loop->var : nullptr;
}

bool launches(const Stmt& s) {
  bool found = false;
  each<Parallel>(s, [&](const Parallel&) { found = true; });
  each<For>(s, [&](const For& n) { found |= is_gpu(n.kind); });
  return found;
}

void add(const Stmt& s, std::vector<Step>& out) {
  if (auto* block = s.as<Block>()) {
    for (const Stmt& inner : block->stmts) add(inner, out);
    return;
  }
  if (launched(s)) {
    out.push_back({Step::Kind::Launch, {s}});
    return;
  }
  if (auto* choice = s.as<If>(); choice && launches(s)) {
    Step step{Step::Kind::Choice, {}, choice->cond};
    add(choice->then, step.then);
    if (choice->otherwise) add(*choice->otherwise, step.otherwise);
    out.push_back(std::move(step));
    return;
  }
  if (out.empty() || out.back().kind != Step::Kind::Between) out.push_back({Step::Kind::Between});
  out.back().stmts.push_back(s);
}

void add_lines(const std::vector<Step>& steps, const std::string& indent, std::string& out) {
  for (const Step& step : steps) switch (step.kind) {
      case Step::Kind::Launch: out += indent + "launch " + launched(step.stmts[0])->symbol.name() + "\n"; break;
      case Step::Kind::Between: out += indent + "between\n"; break;
      case Step::Kind::Choice:
        out += fmt::format("{}if {}\n", indent, print(*step.condition));
        add_lines(step.then, indent + "  ", out);
        if (step.otherwise.empty()) break;
        out += indent + "else\n";
        add_lines(step.otherwise, indent + "  ", out);
    }
}

}  // namespace

std::vector<Step> steps(const Function& f) {
  std::vector<Step> out;
  add(f.body, out);
  return out;
}

std::string print(const std::vector<Step>& steps) {
  std::string out;
  add_lines(steps, "", out);
  return out;
}

}  // namespace spdistal::ir
