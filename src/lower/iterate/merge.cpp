// What several accesses store, side by side: the smallest coordinate at hand is next.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lower/access.hpp"
#include "lower/bind.hpp"
#include "lower/divide/blocks.hpp"
#include "lower/divide/divide.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/questions.hpp"
#include "lower/result/elements.hpp"
#include "lower/visit.hpp"
#include "notation/arithmetic.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

struct Term {
  int operand;
  ir::BinaryOp sign;  // Add or Sub
};

// The operands that the loop's statement adds up, if it does that alone and walks them all: B + C - D.
std::optional<std::vector<Term>> plain_sum(const Context& c, const Scope& s, const Stmt& body,
                                           const std::set<int>& walked) {
  auto* assign = body.as<Assign>();
  if (!assign) return {};
  std::vector<Term> out;
  ScalarType type = type_of(assign->rhs);
  std::function<bool(const notation::Expr&, ir::BinaryOp)> add = [&](const notation::Expr& e, ir::BinaryOp sign) {
    if (auto* access = e.as<Access>()) {
      bool counts_as_zero = is_zero(access->tensor.fill());
      if (s.temporaries.contains(access->tensor) || type_of(e) != type || !counts_as_zero) return false;
      out.push_back({c.find_operand(*access), sign});
      return walked.contains(out.back().operand);
    }
    auto* sum = e.as<Binary>();
    if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return false;
    // The order stays: what is subtracted is one operand.
    bool minus = sum->op == BinaryOp::Sub;
    return add(sum->a, sign) && sum->b.is<Access>() && add(sum->b, minus ? ir::BinaryOp::Sub : ir::BinaryOp::Add);
  };
  bool in_order =
      add(assign->rhs, ir::BinaryOp::Add) &&
      std::is_sorted(out.begin(), out.end(), [](const Term& a, const Term& b) { return a.operand < b.operand; });
  return in_order ? std::optional(out) : std::nullopt;
}

// Accesses that are walked side by side: each has a position, and where some may end before others the coordinate there is
// kept beside it, past all others at the end.
class Merge {
 public:
  Merge(Context& c, const Scope& s, const ForallLoop& loop, const Formula& where)
      : c_(c), f_(c.f), s_(s), loop_(loop), where_(where) {
    for (int k : where.atoms()) {
      size_t level = s.access(k).level;
      std::string tag = c.level_name(k + 1, level);
      bool last = level + 1 == c.tensor_var(k + 1).order();
      walkers_.push_back({k, tag, last, {}, {}, {}});
    }
    const auto& alternatives = where.alternatives();
    auto alone = [](const std::set<int>& a) { return a.size() == 1; };
    if (alternatives.size() == 1) kind_ = Kind::Intersection;
    else if (std::all_of(alternatives.begin(), alternatives.end(), alone)) kind_ = Kind::Union;
  }

  void emit(const Segment& range, Reach reach) {
    for (Walker& w : walkers_) start(w, range, reach);
    // Plain sums are added up as their operands are found.
    if (std::all_of(walkers_.begin(), walkers_.end(), [&](const Walker& w) { return takes_value(w); }))
      terms_ = plain_sum(c_, s_, loop_.body(), where_.atoms());
    if (kind_ == Kind::Union) {
      // A union ends with its smallest coordinate: that is carried along.
      Var i = f_.variable(c_.name(loop_.var), smallest());
      f_.loop_while(Expr(i) < past, [&] {
        turn(i);
        f_.assign(i, smallest());
      });
      return;
    }
    f_.loop_while(any_of_all([&](const Walker& w) { return goes_on(w); }), [&] {
      if (kind_ == Kind::Intersection)
        for (Walker& w : walkers_) w.here = f_.constant(name_here(w), coordinate(c_, s_, w.operand, *w.at));
      turn(f_.constant(c_.name(loop_.var), smallest()));
    });
  }

 private:
  /// Is everything needed, is each enough by itself, or neither?
  enum class Kind : uint8_t { Intersection, Union, Mixed };

  struct Walker {
    int operand;
    std::string tag;  // of its variables
    bool last;        // it has no level below
    std::optional<Var> at, end, here;
    std::optional<Var> found = {};  // in this turn
  };

  std::string name_here(const Walker& w) const {
    return fmt::format("{}_{}", c_.name(loop_.var), c_.tensor_name(w.operand + 1));
  }
  Expr goes_on(const Walker& w) const {
    return kind_ == Kind::Intersection ? Expr(*w.at) < *w.end : Expr(*w.here) < past;
  }
  Expr coordinate_or_past(const Walker& w) {
    return ir::select(Expr(*w.at) < *w.end, coordinate(c_, s_, w.operand, *w.at), past);
  }
  /// Of a last level of a union only the value is wanted: one condition takes it and steps on.
  bool takes_value(const Walker& w) const {
    return kind_ == Kind::Union && w.last && c_.kernel.assembly != Assembly::Shared;
  }
  /// Values are read where they are put down; those of a temporary always.
  bool reads_values() const { return may_fill(s_) || !holds_result(c_, loop_.body()); }
  void read(const std::function<void()>& values) {
    if (holds_result(c_, loop_.body())) when_filling(c_, s_, values);
    else values();
  }

  Expr smallest() const {
    Expr out = *walkers_[0].here;
    for (size_t k = 1; k < walkers_.size(); k++) out = ir::min(out, *walkers_[k].here);
    return out;
  }
  Expr any_of_all(const std::function<Expr(const Walker&)>& condition) const {
    std::optional<Expr> any;
    for (const std::set<int>& alternative : where_.alternatives()) {
      std::optional<Expr> all;
      for (const Walker& w : walkers_)
        if (alternative.contains(w.operand)) all = all ? *all && condition(w) : condition(w);
      any = any ? *any || *all : *all;
    }
    return *any;
  }

  void start(Walker& w, const Segment& range, Reach reach) {
    Segment s = segment(c_, s_, w.operand);
    w.end = f_.constant(w.tag + "_to", s.end);
    if (reach == Reach::Part || window_at(c_, s_, w.operand)) {
      Var from = f_.constant(w.tag + "_from", s.begin), to = *w.end;
      s.begin = seek(c_, s_, w.operand, {from, to}, range.begin);
      w.end = f_.constant(w.tag + "_last", seek(c_, s_, w.operand, {from, to}, range.end));
    }
    w.at = f_.variable("p" + w.tag, s.begin);
    if (kind_ != Kind::Intersection) w.here = f_.variable(name_here(w), coordinate_or_past(w));
  }

  /// What happens at one coordinate: whoever has it enters, the body runs, whoever had it steps on.
  void turn(const Var& i) {
    Scope here = s_;
    std::optional<Var> sum;
    if (terms_ && reads_values())
      sum = f_.variable("sum", ir::zero(ir::value_of(type_of(loop_.body().as<Assign>()->rhs))));
    for (Walker& w : walkers_) {
      w.found = f_.constant("has_" + w.tag, ir::equal(*w.here, i));
      std::optional<Var> value;
      if (takes_value(w)) value = take(w, sum);
      enter(c_, here, w.operand, *w.at, *w.found, *w.end);
      if (value) here.access(w.operand).value = Expr(*value);
    }
    body(here, i, sum);
    for (const Walker& w : walkers_)
      if (!takes_value(w)) step(w, here.access(w.operand));
  }

  /// Takes the value, where it is found, into the sum or a variable of its own, and steps on.
  std::optional<Var> take(const Walker& w, const std::optional<Var>& sum) {
    Var vals = c_.vals_array(w.operand + 1);
    std::optional<Var> value;
    if (reads_values() && !sum)
      value = f_.variable(fmt::format("{}_{}", c_.tensor_name(w.operand + 1), c_.name(loop_.var)),
                          ir::literal(c_.tensor_var(w.operand + 1).fill()));
    f_.when(*w.found, [&] {
      if (value) read([&] { f_.assign(*value, ir::load(vals, *w.at)); });
      for (const Term& term : sum ? *terms_ : std::vector<Term>{})
        if (term.operand == w.operand)
          read([&] { f_.assign(*sum, ir::binary(term.sign, *sum, ir::load(vals, *w.at))); });
      f_.increase(*w.at, 1);
      f_.assign(*w.here, coordinate_or_past(w));
    });
    return value;
  }

  void body(Scope here, const Var& i, const std::optional<Var>& sum) {
    auto go = [&](const Scope& s) {
      bind_values(c_, s, loop_.body(), loop_.at(i), [&](const Scope& inside) { visit(c_, inside, loop_.body()); });
    };
    if (kind_ == Kind::Union) {
      here.summed = sum;
      here.some_present.push_back(where_.atoms());
      return go(here);
    }
    f_.when(any_of_all([](const Walker& w) { return Expr(*w.found); }), [&] {
      if (kind_ == Kind::Intersection)
        for (const Walker& w : walkers_) here.access(w.operand).present.reset();
      go(here);
    });
  }

  void step(const Walker& w, const AccessState& entered) {
    Expr next = entered.group ? *entered.group : Expr(*w.at) + 1;
    if (kind_ == Kind::Intersection) return f_.assign(*w.at, ir::select(*w.found, next, *w.at));
    f_.when(*w.found, [&] {
      f_.assign(*w.at, next);
      f_.assign(*w.here, coordinate_or_past(w));
    });
  }

  inline static const Expr past = ir::int64(std::numeric_limits<int64_t>::max());

  Context& c_;
  ir::FunctionBuilder& f_;
  const Scope& s_;
  const ForallLoop& loop_;
  const Formula& where_;
  Kind kind_ = Kind::Mixed;
  std::vector<Walker> walkers_;
  std::optional<std::vector<Term>> terms_;
};

// Shares have as much of what is stored below the coordinates of outermost levels each, else as many coordinates of the first
// access.
CutFunction cut_of(Context& c, const Scope& s, const ForallLoop& loop, const std::set<int>& walked) {
  auto is_outermost = [&](int k) { return s.access(k).level == 0 && !window_at(c, s, k); };
  if (std::all_of(walked.begin(), walked.end(), is_outermost))
    return [&c, operands = std::vector<int>(walked.begin(), walked.end()), name = c.name(loop.var)](
               const Segment& all, const Expr& part, const Expr& parts) {
      return cut_by_weight(c, name, operands, all, part, parts);
    };
  return up_to_the_end(
      [&c, &s, &loop, first = *walked.begin()](const Segment& all, const Expr& part, const Expr& parts) {
        Segment stored = segment(c, s, first);
        Expr here = coordinate(c, s, first, evenly(stored, part, parts));
        // What is stored may lie outside of a part of the coordinates, or of a window.
        if (loop.reach == Reach::Part || window_at(c, s, first)) here = ir::min(ir::max(here, all.begin), all.end);
        return ir::select(ir::equal(part, 0) || stored.end <= stored.begin, all.begin, here);
      });
}

}  // namespace

void emit(Context& c, const Scope& s, const ForallLoop& loop, const MergePattern& pattern) {
  divide(c, s, loop, c.name(loop.var), loop.range, cut_of(c, s, loop, pattern.where.atoms()),
         [&](const Scope& inside, const Segment& mine, Reach reach) {
           Merge(c, inside, loop, pattern.where).emit(mine, reach);
         });
}

}  // namespace spdistal::lower
