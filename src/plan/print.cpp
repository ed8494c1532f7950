// Plans as text, after the paper's figure of generated code.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "plan/plan.hpp"

namespace spdistal::plan {

namespace {

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const std::vector<NumberedGroup>& numbered) : plan_(plan), numbered_(numbered) {}

  std::string run() {
    for (size_t number : plan_.fetch_order) {
      access(plan_.accesses[number]);
      numbers(number);
    }
    access(plan_.accesses[0]);
    loops();
    return out_;
  }

 private:
  static std::string level(const AccessPlan& access, size_t k) { return fmt::format("{}{}", access.tensor, k + 1); }

  std::string name(const AccessPlan& access, const Name& n) const {
    std::string text = level(access, n.level);
    if (access.lists[n.level]) text += n.part == LevelPart::Positions ? ".crd" : ".pos";
    else if (n.part == LevelPart::Parents) text += ".up";
    if (n.along != Name::whole) text += fmt::format("[{}]", access.variables[size_t(n.along)]);
    return text;
  }

  std::string set(const Set& s, int context = 0) const {
    return match(
        s, [](const Everything&) -> std::string { return "everything"; },
        [&](const Occurring& o) {
          const AccessPlan& from = plan_.accesses[o.access];
          std::string text = level(from, o.level) + (from.lists[o.level] ? ".crd" : "");
          if (o.offset != 0) text += fmt::format(" - {}", o.offset);
          if (o.stride != 1) text = fmt::format("{} / {}", o.offset != 0 ? "(" + text + ")" : text, o.stride);
          return text;
        },
        [&](const Both& n) {
          std::string text = set(n.a, 1) + " ∩ " + set(n.b, 1);
          return context > 1 ? "(" + text + ")" : text;
        },
        [&](const Either& n) {
          std::string text = set(n.a) + " ∪ " + set(n.b);
          return context > 0 ? "(" + text + ")" : text;
        });
  }
  std::string coordinates(const Gather& gather) const {
    if (auto* same = gather.set.as<Occurring>(); same && same->offset == gather.offset && same->stride == gather.stride)
      return set(Occurring{same->access, same->level});
    bool plain = gather.offset == 0 && gather.stride == 1;
    std::string text = set(gather.set, plain ? 0 : 2);
    if (gather.stride != 1) text = fmt::format("{} * {}", gather.stride, text);
    if (gather.offset != 0) text += fmt::format(" + {}", gather.offset);
    return text;
  }

  std::string entry(const AccessPlan& access, const PartitionStatement& s) const {
    if (s.colouring == Colouring::NonZero) return "{" + access.split->bounds + "}";
    size_t dim = access.dims[s.out.level];
    const std::string& variable = access.variables[dim];
    const Projection& projection = access.projections[dim];
    if (auto* affine = std::get_if<Affine>(&projection)) return "{" + affine->bounds + "}";
    if (auto* gather = std::get_if<Gather>(&projection))
      return fmt::format("{{{} in {}}}", variable, coordinates(*gather));
    return variable;
  }

  void access(const AccessPlan& a) {
    bool moves = std::any_of(a.projections.begin(), a.projections.end(),
                             [](const Projection& p) { return !std::holds_alternative<Replicate>(p); });
    out_ += fmt::format("partition {}", a.text);
    if (!moves && !a.split) {
      out_ += a.projections.empty() ? ": the scalar\n" : ": all of it for every colour\n";
      return;
    }
    out_ += "\n";
    std::vector<std::pair<std::string, std::string>> lines;
    for (const PartitionStatement& s : a.partitions) {
      // Above the first level there is only the root, which every colour has.
      if (s.out.level == 0 && s.out.part == LevelPart::Parents && !a.lists[0]) continue;
      std::string out = name(a, s.out), line;
      if (s.op == Op::Init) line = fmt::format("C_{} = {{}}", out);
      else if (s.op == Op::Entry) line = fmt::format("C_{}[{}] = {}", out, colour(a), entry(a, s));
      else {
        line = fmt::format("{} = {}(", out, name_of(s.op));
        if (s.in.empty()) line += "C_" + out;
        for (size_t k = 0; k < s.in.size(); k++) line += (k ? ", " : "") + name(a, s.in[k]);
        line += ")";
      }
      lines.emplace_back(std::move(line), s.function.str());
    }
    if (!a.dims.empty())
      lines.emplace_back(
          fmt::format("{}.vals = copy({})", a.tensor, name(a, {a.dims.size() - 1, LevelPart::Positions, Name::whole})),
          "");
    size_t width = 0;
    for (const auto& [line, function] : lines) width = std::max(width, display_width(line));
    for (const auto& [line, function] : lines)
      if (function.empty()) out_ += fmt::format("  {}\n", line);
      else out_ += fmt::format("  {}{}  {}\n", line, std::string(width - display_width(line), ' '), function);
  }

  bool is_cut_by_steps(const AccessPlan& a) const {
    return std::any_of(plan_.loops.begin(), plan_.loops.begin() + long(a.depth),
                       [](const Loop& loop) { return loop.kind == Loop::Kind::Step; });
  }

  // Where the values of a dense operand lie that are found by what others store.
  void numbers(size_t number) {
    for (const NumberedGroup& group : numbered_)
      for (const LevelOfAccess& at : group.located) {
        if (at.access != number) continue;
        std::string by = join(group.stored, ", ", [&](const LevelOfAccess& from) {
          return name(plan_.accesses[from.access], {from.level, LevelPart::Positions, Name::whole});
        });
        const AccessPlan& located = plan_.accesses[number];
        bool stays = at.level == 0 && !is_cut_by_steps(located);
        out_ += fmt::format("  {} {}: found by numbers in {}\n", level(located, at.level),
                            stays ? "at home, then ghosts" : "where it occurs", by);
      }
  }

  // The loops that an access depends on name its colours.
  std::string colour(const AccessPlan& a) const {
    std::string text;
    for (size_t k = 0; k < a.depth; k++) text += (k ? "," : "") + plan_.loops[k].var;
    return text;
  }

  std::string fetched_at(size_t depth) const {
    std::string text;
    auto list = [&](Privilege privilege, const char* word) {
      std::string names;
      for (const AccessPlan& a : plan_.accesses)
        if (a.depth == depth && a.privilege == privilege) names += (names.empty() ? "" : ", ") + a.text;
      if (!names.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", word, names);
    };
    list(Privilege::Read, "read");
    list(Privilege::Write, "write");
    list(Privilege::Reduce, "reduce");
    return text;
  }

  void loops() {
    std::string indent;
    for (size_t k = 0; k <= plan_.loops.size(); k++) {
      if (k > 0) {
        const Loop& loop = plan_.loops[k - 1];
        out_ += fmt::format("{}{} {} in [0, {})\n", indent,
                            loop.kind == Loop::Kind::Distributed ? "distributed for" : "for", loop.var, loop.size);
        indent += "  ";
      }
      if (std::string text = fetched_at(k); !text.empty()) out_ += indent + text + "\n";
    }
    out_ += indent + "leaf\n";
    out_ += spdistal::indent(plan_.leaf, indent.size() + 2) + "\n";
  }

  const Plan& plan_;
  const std::vector<NumberedGroup>& numbered_;
  std::string out_;
};

}  // namespace

std::string print(const Plan& plan, const std::vector<NumberedGroup>& numbered) {
  return PlanPrinter(plan, numbered).run();
}

}  // namespace spdistal::plan
