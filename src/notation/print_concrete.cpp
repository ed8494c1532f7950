// The loops of a concrete statement as text: a line for each loop with its size and what was decided about it, and below
// the loop that completes it, how a variable that is read is found from the loops ("with").
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "notation/presence.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {

class ConcretePrinter {
 public:
  ConcretePrinter(Printer& printer, const ConcreteStatement& statement) : print_(printer), statement_(statement) {
    choose_names();
  }

  std::string text;
  std::optional<std::pair<size_t, size_t>> mark;

  void run(const IndexVar* marked) {
    marked_ = marked;
    bool accumulates = false;
    each<Assign>(statement_.body,
                 [&](const Assign& a) { accumulates |= a.lhs.tensor == statement_.result && a.op != AssignOp::Set; });
    bool partial = std::any_of(provenance().roots.begin(), provenance().roots.end(),
                               [&](const Root& root) { return found_at_position(root.var); });
    if (statement_.start == Start::Zero && (accumulates || partial || writes_diagonal())) {
      std::string name = print_.name(statement_.result);
      Scalar background = background_of(statement_);
      std::string what = is_zero(background) ? "zero " + name : fmt::format("fill {} with {}", name, print(background));
      line(0, what + (reads_result() ? fmt::format(", reading {} as it was", name) : ""));
    }
    visit(statement_.body, 0);
    if (!text.empty()) text.pop_back();
  }

  void run_inside(const std::vector<IndexVar>& around) {
    in_scope_.insert(around.begin(), around.end());
    complete();
    for (const Relation* relation : newly_found_) line(0, "with " + found(*relation));
    newly_found_.clear();
    visit(statement_.body, 0);
    if (!text.empty()) text.pop_back();
  }

  // The formulas from the variable to the loops, one after the other; what is read off at a position follows from no formula.
  std::string found(const IndexVar& var) {
    const Relation* relation = provenance().replaced_by(var);
    if (!relation) return print_.name(var);
    std::string out = found(*relation);
    for (const IndexVar& next : relation->needs())
      if (provenance().replaced_by(next) && !found_at_position(next)) out += ", " + found(next);
    return out;
  }

  // The number of values of a variable: "n", "|i|", "ceil(|i| / 4)", "|B(i,j)|" for stored positions.
  std::string size(const IndexVar& var, int context = kSum) {
    if (const Root* root = provenance().root(var))
      return root->fixed ? fmt::format("{{{}}}", *root->fixed) : print_.size(root->size, var);
    for (const Made& made : provenance().made_by(var)->made)
      if (made.var == var) return arithmetic(made.size, context);
    return "?";
  }

 private:
  const Provenance& provenance() const { return statement_.provenance; }

  // Elements of the result that the loops do not reach are zero too.
  bool writes_diagonal() const {
    bool found = false;
    each<Assign>(statement_.body, [&](const Assign& a) {
      std::set<IndexVar> distinct(a.lhs.indices.begin(), a.lhs.indices.end());
      found |= a.lhs.tensor == statement_.result && distinct.size() < a.lhs.indices.size();
    });
    return found;
  }
  bool reads_result() const {
    bool found = false;
    each<Assign>(statement_.body, [&](const Assign& a) {
      each<Access>(a.rhs, [&](const Access& access) { found |= access.tensor == statement_.result; });
    });
    return found;
  }

  // Variables of the statement first, so that i is i; then derived ones, which like to be called after their parents.
  void choose_names() {
    for (const Root& root : provenance().roots) print_.name(root.var);
    for (const Relation& relation : provenance().relations) {
      std::string stem = relation.replaced.size() == 1 ? print_.name(relation.replaced[0].var) : "";
      for (const Made& made : relation.made) print_.vars_.of(made.var, {}, stem + std::string(made.suffix));
    }
  }

  enum Precedence { kSum = 1, kProduct = 2, kFactor = 3 };

  std::string arithmetic(const IndexExpr& expr, int context) {
    auto binary = [&](int precedence, const IndexBinary& n, std::string_view symbol) {
      std::string out = arithmetic(n.a, precedence) + fmt::format(" {} ", symbol) + arithmetic(n.b, precedence + 1);
      return precedence < context ? "(" + out + ")" : out;
    };
    return match(
        expr, [&](const ValueOf& n) { return print_.name(n.var); },
        [&](const SizeOf& n) { return size(n.var, context); },
        [&](const IndexNumber& n) { return print_.number(n.value); },
        [&](const IndexBinary& n) -> std::string {
          switch (n.op) {
            case IndexOp::Add: return binary(kSum, n, "+");
            case IndexOp::Mul: return binary(kProduct, n, "*");
            case IndexOp::Div: return binary(kProduct, n, "/");
            case IndexOp::Mod: return binary(kProduct, n, "%");
            case IndexOp::Min: return fmt::format("min({}, {})", arithmetic(n.a, kSum), arithmetic(n.b, kSum));
            default: return fmt::format("ceil({} / {})", arithmetic(n.a, kProduct), arithmetic(n.b, kFactor));
          }
        },
        [&](const StoredCount& n) { return fmt::format("|{}|", stored(n.levels)); },
        [&](const StoredBefore& n) { return fmt::format("before({})", print_.name(n.levels.block->part)); },
        [&](const StoredCoordinate& n) {
          return fmt::format("{} at {}", stored(n.levels), arithmetic(n.position, kFactor));
        },
        [&](const BlockStart& n) { return cut(n.blocks, n.number); },
        [&](const BlockSize& n) { return fmt::format("|{}|", cut(n.blocks, n.number)); });
  }

  // "cut(io, B, C)": a block of those that B and C weigh alike.
  std::string cut(const WeightedBlocks& blocks, const IndexExpr& number) {
    return fmt::format("cut({}, {})", arithmetic(number, kSum),
                       join(blocks.operands, ", ", [&](const Access& a) { return print_.name(a.tensor); }));
  }

  // "B(i,j)" of the levels that a position loop covers, those above being fixed by the loops outside; "B(i,_)" where
  // it does not reach down to j; "B(ii,j)" of a block of rows.
  std::string stored(const Levels& levels) {
    std::vector<std::string> names(levels.access.indices.size(), "_");
    for (size_t level = 0; level <= levels.last; level++)
      names[size_t(levels.access.tensor.format().mode_order()[level])] = print_.name(walked(levels, level));
    return fmt::format("{}({})", print_.name(levels.access.tensor), join(names, ","));
  }

  static const IndexVar& walked(const Levels& levels, size_t level) {
    return levels.block && level == levels.first ? levels.block->part : levels.var(level);
  }

  // How replaced variables are found: "i = io * 32 + ii < |i|".
  std::string found(const Relation& relation) {
    return join(relation.replaced, ", ", [&](const Replaced& r) {
      std::string left = print_.name(r.var);
      if (auto* coordinate = r.value.as<StoredCoordinate>()) {
        std::vector<std::string> names;
        for (size_t level = coordinate->levels.first; level <= coordinate->levels.last; level++)
          names.push_back(print_.name(walked(coordinate->levels, level)));
        left = names.size() == 1 ? names[0] : "(" + join(names, ",") + ")";
      }
      std::string formula = fmt::format("{} = {}", left, arithmetic(r.value, kSum));
      return r.guard == Guard::Checked ? formula + " < " + size(r.var) : formula;
    });
  }

  std::string decisions(const LoopTags& tags) {
    std::vector<std::string> out;
    if (tags.place == LoopPlace::Distributed) out.push_back("distribute");
    if (!tags.communicate.empty())
      out.push_back("communicate {" + join(tags.communicate, ", ", [&](const TensorVar& t) { return print_.name(t); }) +
                    "}");
    if (tags.parallel) {
      std::string how = fmt::format("parallelize {}", word(tags.parallel->unit));
      if (tags.parallel->race != Race::Auto) how += fmt::format(" {}", word(tags.parallel->race));
      out.push_back(how);
    }
    if (tags.unroll > 1) out.push_back(fmt::format("unroll {}", tags.unroll));
    if (!tags.leaf.empty()) out.push_back(fmt::format("substitute {}", tags.leaf));
    return out.empty() ? "" : ": " + join(out, ", ");
  }

  void line(size_t depth, const std::string& what) { text += std::string(2 * depth, ' ') + what + "\n"; }

  void visit(const Stmt& stmt, size_t depth) {
    match(
        stmt, [&](const Forall& n) { visit_loop(n, depth); },
        [&](const Where& n) {
          std::vector<TensorVar> made;
          each<Assign>(n.producer, [&](const Assign& a) {
            if (std::find(made.begin(), made.end(), a.lhs.tensor) == made.end()) made.push_back(a.lhs.tensor);
          });
          line(depth, "where");
          visit(n.consumer, depth + 1);
          line(depth, join(made, ", ", [&](const TensorVar& t) { return print_.name(t); }) + " from");
          visit(n.producer, depth + 1);
        },
        [&](const Assign& n) {
          line(depth, print_(Assignment{n.lhs, n.op, n.rhs}));
        },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts) visit(part, depth);
        });
  }

  void visit_loop(const Forall& loop, size_t depth) {
    size_t begin = text.size() + 2 * depth;
    const Root* root = provenance().root(loop.var);
    bool plain = root && !root->fixed && !root->size.grid_dim() && !root->size.extent().is_literal() &&
                 size(loop.var).starts_with("|");
    line(depth, fmt::format("forall {}{}{}", print_.name(loop.var), plain ? "" : " in " + size(loop.var),
                            decisions(loop.tags)));
    if (marked_ && loop.var == *marked_) mark = {begin, text.size() - 1};
    in_scope_.insert(loop.var);
    std::vector<IndexVar> completed = complete();
    for (const Relation* relation : newly_found_) line(depth + 1, "with " + found(*relation));
    newly_found_.clear();
    visit(loop.body, depth + 1);
    in_scope_.erase(loop.var);
    for (const IndexVar& var : completed) in_scope_.erase(var);
  }

  // Adds every variable that the loops in scope determine by now; walks relations backwards, as values are found.
  std::vector<IndexVar> complete() {
    std::vector<IndexVar> out;
    auto known = [&](const IndexVar& var) { return in_scope_.contains(var); };
    const std::vector<Relation>& relations = provenance().relations;
    for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
      std::vector<IndexVar> needed = relation->needs();
      if (!std::all_of(needed.begin(), needed.end(), known) || known(relation->replaced[0].var)) continue;
      // Coordinates of a position are read off at once: the fusions they went through say nothing more. Windows are written
      // as they are found.
      bool read_off =
          relation->made.size() == 1 && std::any_of(relation->made.begin(), relation->made.end(),
                                                    [&](const Made& made) { return found_at_position(made.var); });
      if (!read_off && !relation->replaced[0].var.window()) newly_found_.push_back(&*relation);
      for (const Replaced& r : relation->replaced) in_scope_.insert(r.var), out.push_back(r.var);
    }
    return out;
  }
  // Is the variable found from stored coordinates, directly or through fusions?
  bool found_at_position(const IndexVar& var) {
    const Relation* relation = provenance().replaced_by(var);
    if (!relation) return false;
    for (const Replaced& r : relation->replaced)
      if (r.value.is<StoredCoordinate>()) return true;
    return std::any_of(relation->made.begin(), relation->made.end(),
                       [&](const Made& made) { return found_at_position(made.var); });
  }

  Printer& print_;
  const ConcreteStatement& statement_;
  const IndexVar* marked_ = nullptr;
  std::set<IndexVar> in_scope_;
  std::vector<const Relation*> newly_found_;
};

std::string Printer::operator()(const ConcreteStatement& statement) {
  ConcretePrinter printer(*this, statement);
  printer.run(nullptr);
  return printer.text;
}

std::string Printer::inside(const ConcreteStatement& statement, const std::vector<IndexVar>& around) {
  ConcretePrinter printer(*this, statement);
  printer.run_inside(around);
  return printer.text;
}

std::string Printer::found(const ConcreteStatement& statement, const IndexVar& var) {
  return ConcretePrinter(*this, statement).found(var);
}

std::string Printer::size(const ConcreteStatement& statement, const IndexVar& var) {
  return ConcretePrinter(*this, statement).size(var);
}

Excerpt Printer::excerpt(const ConcreteStatement& statement, const IndexVar& loop) {
  ConcretePrinter printer(*this, statement);
  printer.run(&loop);
  auto [begin, end] = printer.mark.value_or(std::pair{printer.text.size(), printer.text.size()});
  return {printer.text, begin, end};
}

}  // namespace spdistal::notation
