// Plans as text, after the paper's figure of generated code: actions in the order in which they happen.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "notation/print.hpp"
#include "plan/plan.hpp"

namespace spdistal::plan {

namespace {

using notation::ArgumentText;
using notation::ConcreteStatement;

std::string text_of(Travels travels) {
  switch (travels) {
    case Travels::Nothing: return "nothing, it is there";
    case Travels::Ghosts: return "values of ghosts";
    case Travels::Values: return "values";
    case Travels::Arrays: return "indices once, and values";
  }
  return "";
}

std::string text_of(Returns returns) {
  switch (returns) {
    case Returns::InPlace: return "nothing, it is computed there";
    case Returns::Assigned: return "values";
    case Returns::AddedUp: return "values, added up in the order of colours";
    case Returns::Kept: return "nothing, every rank has all of it";
    case Returns::Stays: return "nothing, its pieces stay";
    case Returns::Joined: return "its pieces stay, elements that are cut are added up";
    case Returns::Merged: return "elements, merged by coordinate";
  }
  return "";
}

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const PlanFacts& facts) : plan_(plan), placed_(plan.leaf), facts_(facts) {
    placed_.provenance = plan.bounds;
    for (const AccessPlan& a : plan.accesses) names_(a.access);  // called as everywhere else
  }

  std::string run() {
    actions(plan_.actions, "");
    return out_;
  }

 private:
  static std::string level(const AccessPlan& access, size_t k) { return fmt::format("{}{}", access.tensor, k + 1); }
  std::string variable(const AccessPlan& access, size_t dim) { return names_.name(access.access.indices[dim]); }

  std::string name(const AccessPlan& access, const Name& n) {
    std::string text = level(access, n.level);
    if (access.lists[n.level]) text += n.part == LevelPart::Positions ? ".crd" : ".pos";
    else if (n.part == LevelPart::Parents) text += ".up";
    if (n.along != Name::whole) text += fmt::format("[{}]", variable(access, size_t(n.along)));
    return text;
  }

  std::string set(const Set& s, int context = 0) {
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
  std::string coordinates(const Gather& gather) {
    if (auto* same = gather.set.as<Occurring>(); same && same->offset == gather.offset && same->stride == gather.stride)
      return set(Occurring{same->access, same->level});
    bool plain = gather.offset == 0 && gather.stride == 1;
    std::string text = set(gather.set, plain ? 0 : 2);
    if (gather.stride != 1) text = fmt::format("{} * {}", gather.stride, text);
    if (gather.offset != 0) text += fmt::format(" + {}", gather.offset);
    return text;
  }

  // "fp / |k|, fp = …": the positions of the level that is dealt out.
  std::string dealt_out(const PositionSplit& split) {
    std::string out;
    for (size_t k = split.levels.last; k > split.level; k--) {
      if (out.empty()) out = names_.name(split.position);
      out += " / " + names_.size(placed_, split.levels.var(k));
    }
    return (out.empty() ? "" : out + ", ") + names_.found(placed_, split.position);
  }

  std::string entry(const AccessPlan& access, const PartitionStatement& s) {
    if (s.colouring == Colouring::NonZero) return "{" + dealt_out(*access.split) + "}";
    size_t dim = access.dims[s.out.level];
    const Projection& projection = access.projections[dim];
    if (std::holds_alternative<Affine>(projection))
      return "{" + names_.found(placed_, access.access.indices[dim]) + "}";
    if (auto* gather = std::get_if<Gather>(&projection))
      return fmt::format("{{{} in {}}}", variable(access, dim), coordinates(*gather));
    return variable(access, dim);
  }

  void partition(size_t number, const std::string& indent) {
    const AccessPlan& a = plan_.accesses[number];
    bool cut = std::any_of(a.projections.begin(), a.projections.end(),
                           [](const Projection& p) { return !std::holds_alternative<Replicate>(p); });
    out_ += indent + "partition " + a.text;
    if (!cut && !a.split) {
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
    Name last{a.dims.size() - 1, LevelPart::Positions, Name::whole};
    bool stored = number > 0 || a.access.tensor.format().is_dense();
    lines.emplace_back(stored ? fmt::format("{}.vals = copy({})", a.tensor, name(a, last))
                              : fmt::format("{}.vals: what the leaf stores there", a.tensor),
                       "");
    size_t width = 0;
    for (const auto& [line, function] : lines) width = std::max(width, display_width(line));
    for (const auto& [line, function] : lines)
      if (function.empty()) out_ += fmt::format("{}  {}\n", indent, line);
      else out_ += fmt::format("{}  {}{}  {}\n", indent, line, std::string(width - display_width(line), ' '), function);
    numbers(number, indent);
  }

  bool is_cut_by_steps(const AccessPlan& a) const {
    return std::any_of(plan_.loops.begin(), plan_.loops.begin() + long(a.loops.size()),
                       [](const Loop& loop) { return loop.kind == Loop::Kind::Step; });
  }

  // Where the values of a dense operand lie that are found by what others store.
  void numbers(size_t number, const std::string& indent) {
    for (size_t g = 0; g < facts_.numbered.size(); g++) {
      const NumberedGroup& group = facts_.numbered[g];
      FoundBy how = g < facts_.found_by.size() ? facts_.found_by[g] : FoundBy::Numbers;
      for (const LevelOfAccess& at : group.located) {
        if (at.access != number || how == FoundBy::Coordinates) continue;
        std::string by = join(group.stored, ", ", [&](const LevelOfAccess& from) {
          return name(plan_.accesses[from.access], {from.level, LevelPart::Positions, Name::whole});
        });
        const AccessPlan& located = plan_.accesses[number];
        bool stays = at.level == 0 && !is_cut_by_steps(located);
        out_ += fmt::format("{}  {} {}: found by {}{}\n", indent, level(located, at.level),
                            how == FoundBy::Around ? "at home, ghosts around it"
                            : stays                ? "at home, then ghosts"
                                                   : "where it occurs",
                            how == FoundBy::Around ? "" : "numbers in ", by);
      }
    }
  }

  // The loops that an access depends on name its colours.
  std::string colour(const AccessPlan& a) {
    return join(a.loops, ",", [&](const IndexVar& loop) { return names_.name(loop); });
  }

  std::string loop(const char* word, const Loop& loop) {
    return fmt::format("{} {} in [0, {})\n", word, names_.name(loop.var), names_.size(plan_.leaf, loop.var));
  }

  std::string privileges() const {
    std::string text;
    auto list = [&](Privilege privilege, const char* word) {
      std::string accesses;
      for (const AccessPlan& a : plan_.accesses)
        if (a.privilege == privilege) accesses += (accesses.empty() ? "" : ", ") + a.text;
      if (!accesses.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", word, accesses);
    };
    list(Privilege::Read, "read");
    list(Privilege::Write, "write");
    list(Privilege::Reduce, "reduce");
    return text;
  }

  void launch(std::string indent) {
    std::vector<IndexVar> around;
    for (const Loop& each : plan_.loops) {
      around.push_back(each.var);
      if (each.kind != Loop::Kind::Distributed) continue;
      out_ += indent + loop("distributed for", each);
      indent += "  ";
    }
    out_ += indent + privileges() + "\n" + indent + "leaf\n";
    out_ += spdistal::indent(names_.inside(plan_.leaf, around), indent.size() + 2) + "\n";
  }

  void fetch(size_t number, const std::string& indent) {
    out_ += indent + "fetch " + plan_.accesses[number].text;
    if (number < facts_.travels.size() && facts_.travels[number]) out_ += ": " + text_of(*facts_.travels[number]);
    out_ += "\n";
  }

  void homecoming(const std::string& indent) {
    out_ += indent + "homecoming " + plan_.accesses[0].text;
    if (facts_.returns) out_ += ": " + text_of(*facts_.returns);
    out_ += "\n";
  }

  void actions(const std::vector<Action>& all, const std::string& indent) {
    for (const Action& action : all)
      match(
          action, [&](const MakePartition& n) { partition(n.access, indent); },
          [&](const FetchPieces& n) { fetch(n.access, indent); }, [&](const LaunchLeaf&) { launch(indent); },
          [&](const TakeHome&) { homecoming(indent); },
          [&](const ForSteps& n) {
            out_ += indent + loop("for", plan_.loops[n.loop]);
            actions(n.actions, indent + "  ");
          });
  }

  const Plan& plan_;
  ConcreteStatement placed_;  // the leaf with the relations that bounds follow from
  const PlanFacts& facts_;
  notation::Printer names_{ArgumentText::Name};
  std::string out_;
};

}  // namespace

std::string print(const Plan& plan, const PlanFacts& facts) { return PlanPrinter(plan, facts).run(); }

}  // namespace spdistal::plan
