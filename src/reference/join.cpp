#include "reference/join.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "reference/arithmetic.hpp"

namespace spdistal::reference {

using namespace notation;
using Complex = std::complex<double>;

size_t KeyHash::operator()(const Key& key) const {
  size_t hash = key.size();
  for (int64_t x : key) hash = (hash ^ size_t(x)) * 0x9E3779B97F4A7C15ull + (hash >> 29);
  return hash;
}

namespace {

struct Term {
  Complex coefficient = 1;
  std::vector<Access> factors;
};
using Terms = std::optional<std::vector<Term>>;

// Multiplies an expression out. Sums are taken where the definition puts them: a term without the variable counts as
// often as the variable has values, and each sum has a variable of its own.
class Multiplier {
 public:
  Multiplier(const Assignment& assignment, const EntryTable& tensors) : tensors_(tensors) {
    left_.insert(assignment.lhs.indices.begin(), assignment.lhs.indices.end());
    count(assignment.rhs, total_);
    each<Sum>(assignment.rhs, [&](const Sum& sum) { explicit_.insert(sum.var); });
    auto measure = [&](const Access& access) {
      for (size_t d = 0; d < access.indices.size(); d++) sizes_[access.indices[d]] = tensors.at(access.tensor).dims[d];
    };
    measure(assignment.lhs);
    each<Access>(assignment.rhs, measure);
  }

  Terms operator()(const Expr& expr) {
    Terms terms = plain(expr);
    std::map<IndexVar, size_t> uses;
    count(expr, uses);
    for (const auto& [var, times] : uses) {
      bool held = false;
      children(expr, [&](const Expr& child) {
        std::map<IndexVar, size_t> inner;
        count(child, inner);
        held |= inner.contains(var) && inner.at(var) == total_.at(var);
      });
      if (!left_.contains(var) && !explicit_.contains(var) && times == total_.at(var) && !held) sum(terms, var);
    }
    return terms;
  }

 private:
  static void count(const Expr& expr, std::map<IndexVar, size_t>& uses) {
    if (auto* access = expr.as<Access>())
      for (const IndexVar& var : access->indices) uses[var]++;
    children(expr, [&](const Expr& child) { count(child, uses); });
  }

  void sum(Terms& terms, const IndexVar& var) {
    if (!terms) return;
    for (Term& term : *terms) {
      IndexVar own;
      bool used = false;
      for (Access& factor : term.factors)
        for (IndexVar& index : factor.indices)
          if (index == var) index = own, used = true;
      if (!used) term.coefficient *= double(sizes_.at(var));
    }
  }

  Terms plain(const Expr& expr) {
    return match(
        expr,
        [&](const Access& n) -> Terms {
          return std::vector{Term{1, {n}}};
        },
        [&](const Literal& n) -> Terms {
          return std::vector{
              Term{std::get<Complex>(static_cast<const ScalarVariant&>(convert(n.value, ScalarType::Complex128))), {}}};
        },
        [&](const Neg& n) -> Terms {
          Terms out = (*this)(n.a);
          if (out)
            for (Term& term : *out) term.coefficient = -term.coefficient;
          return out;
        },
        [&](const Binary& n) -> Terms {
          Terms a = (*this)(n.a), b = (*this)(n.b);
          if (!a || !b || is_integral(type_of(expr))) return std::nullopt;
          if (n.op == BinaryOp::Div) {
            if (b->size() != 1 || !(*b)[0].factors.empty()) return std::nullopt;
            for (Term& term : *a) term.coefficient /= (*b)[0].coefficient;
            return a;
          }
          if (n.op == BinaryOp::Mul) {
            std::vector<Term> out;
            for (const Term& x : *a)
              for (const Term& y : *b) {
                out.push_back({x.coefficient * y.coefficient, x.factors});
                out.back().factors.insert(out.back().factors.end(), y.factors.begin(), y.factors.end());
              }
            return out;
          }
          for (Term& term : *b) {
            if (n.op == BinaryOp::Sub) term.coefficient = -term.coefficient;
            a->push_back(term);
          }
          return a;
        },
        [&](const Call&) -> Terms { return std::nullopt; },
        [&](const Sum& n) -> Terms {
          Terms out = (*this)(n.body);
          sum(out, n.var);
          return out;
        });
  }

  const EntryTable& tensors_;
  std::set<IndexVar> left_, explicit_;
  std::map<IndexVar, size_t> total_;
  std::map<IndexVar, int64_t> sizes_;
};

// One product, as a join: factors one after the other, each looked up by what is bound already.
class Join {
 public:
  Join(const Term& term, const Access& lhs, const EntryTable& tensors, JudgedElements& out)
      : term_(term), lhs_(lhs), out_(out) {
    // Fewest entries first, then whatever shares a variable with those before.
    std::vector<Access> waiting = term.factors;
    std::set<IndexVar> bound;
    while (!waiting.empty()) {
      auto best = std::min_element(waiting.begin(), waiting.end(), [&](const Access& a, const Access& b) {
        auto rank = [&](const Access& x) {
          bool joined =
              std::any_of(x.indices.begin(), x.indices.end(), [&](const IndexVar& v) { return bound.contains(v); });
          return std::pair(!joined && !bound.empty(), tensors.at(x.tensor).list.size());
        };
        return rank(a) < rank(b);
      });
      Step step{*best, {}, {}};
      for (size_t d = 0; d < best->indices.size(); d++)
        if (bound.contains(best->indices[d])) step.known.push_back(d);
      for (const auto& [at, value] : tensors.at(best->tensor).list) {
        Key key;
        for (size_t d : step.known) key.push_back(at[d]);
        step.index[key].push_back({at, value});
      }
      bound.insert(best->indices.begin(), best->indices.end());
      steps_.push_back(std::move(step));
      waiting.erase(best);
    }
    for (size_t d = 0; d < lhs.indices.size(); d++)
      if (!bound.contains(lhs.indices[d])) broadcast_.emplace(lhs.indices[d], tensors.at(lhs.tensor).dims[d]);
  }

  void run() { visit(0, term_.coefficient); }

 private:
  struct Step {
    Access access;
    std::vector<size_t> known;  // dimensions whose variables are bound before
    std::unordered_map<Key, std::vector<std::pair<Key, Complex>>, KeyHash> index;
  };

  void visit(size_t next, const Complex& product) {
    if (next == steps_.size()) return spread(broadcast_.begin(), product);
    const Step& step = steps_[next];
    Key key;
    for (size_t d : step.known) key.push_back(values_.at(step.access.indices[d]));
    auto matches = step.index.find(key);
    if (matches == step.index.end()) return;
    for (const auto& [at, value] : matches->second) {
      bool fits = true;
      std::vector<IndexVar> fresh;
      for (size_t d = 0; d < at.size() && fits; d++) {
        auto [known, first] = values_.try_emplace(step.access.indices[d], at[d]);
        if (first) fresh.push_back(step.access.indices[d]);
        fits = known->second == at[d];
      }
      if (fits) visit(next + 1, product * value);
      for (const IndexVar& var : fresh) values_.erase(var);
    }
  }

  void spread(std::map<IndexVar, int64_t>::const_iterator next, const Complex& product) {
    if (next == broadcast_.end()) {
      Key at;
      for (const IndexVar& var : lhs_.indices) at.push_back(values_.at(var));
      Judged& element = out_[at];
      element.value += product;
      element.magnitude += std::abs(product);
      return;
    }
    for (int64_t v = 0; v < next->second; v++) {
      values_.insert_or_assign(next->first, v);
      spread(std::next(next), product);
    }
    values_.erase(next->first);
  }

  const Term& term_;
  const Access& lhs_;
  JudgedElements& out_;
  std::vector<Step> steps_;
  std::map<IndexVar, int64_t> broadcast_;
  std::map<IndexVar, int64_t> values_;
};

}  // namespace

std::optional<JudgedElements> evaluate_by_joins(const Assignment& assignment, const EntryTable& tensors) {
  Terms terms = Multiplier(assignment, tensors)(assignment.rhs);
  if (!terms) return std::nullopt;
  JudgedElements out;
  for (const Term& term : *terms) Join(term, assignment.lhs, tensors, out).run();
  if (assignment.op == AssignOp::Add)
    for (const auto& [at, value] : tensors.at(assignment.lhs.tensor).list) {
      out[at].value += value;
      out[at].magnitude += std::abs(value);
    }
  return out;
}

}  // namespace spdistal::reference
