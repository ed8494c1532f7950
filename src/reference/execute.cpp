#include "reference/execute.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "base/blocks.hpp"
#include "base/require.hpp"
#include "format/questions.hpp"
#include "notation/element.hpp"

namespace spdistal::reference {

using namespace notation;

namespace {

using ElementAt = std::vector<int64_t>;

// The coordinates of the first levels that a tensor stores, in storage order.
class ElementTree {
 public:
  ElementTree(const TensorVar& tensor, const DenseArray& array) : order_(tensor.order()) {
    const Format& format = tensor.format();
    ElementAt at(order_, 0);
    // Every element that is stored, where that is known, else those other than the fill value; as coordinates by level.
    std::function<void(size_t)> collect = [&](size_t level) {
      if (level == order_) {
        if (array.absent.empty() ? same_number(array.at(at), tensor.fill()) : array.absent[array.position(at)]) return;
        ElementAt by_level;
        for (int dim : format.mode_order()) by_level.push_back(at[size_t(dim)]);
        stored_.push_back(by_level);
        return;
      }
      size_t dim = size_t(format.mode_order()[level]);
      for (at[dim] = 0; at[dim] < array.dims[dim]; at[dim]++) collect(level + 1);
    };
    collect(0);
    for (size_t level = 0; level < order_; level++) {
      levels_.emplace_back();
      std::vector<ElementAt> parents = level == 0 ? std::vector<ElementAt>{{}} : levels_[level - 1];
      for (const ElementAt& parent : parents)
        for (int64_t c = 0; c < array.dims[size_t(format.mode_order()[level])]; c++) {
          ElementAt child = parent;
          child.push_back(c);
          if (counts_places(format.levels()[level]) || occurs(child)) levels_[level].push_back(child);
        }
    }
  }

  // How many elements are stored at coordinates of the first level before this one.
  int64_t weight_before(int64_t coordinate) const {
    return std::count_if(levels_.back().begin(), levels_.back().end(),
                         [&](const ElementAt& c) { return c[0] < coordinate; });
  }

  // What level `last` stores below the given coordinates of the levels above.
  std::vector<ElementAt> below(const ElementAt& prefix, size_t last) const {
    std::vector<ElementAt> out;
    for (const ElementAt& c : levels_[last])
      if (std::equal(prefix.begin(), prefix.end(), c.begin())) out.push_back(c);
    return out;
  }

 private:
  bool occurs(const ElementAt& prefix) const {
    return std::any_of(stored_.begin(), stored_.end(),
                       [&](const ElementAt& c) { return std::equal(prefix.begin(), prefix.end(), c.begin()); });
  }

  size_t order_;
  std::vector<ElementAt> stored_;
  std::vector<std::vector<ElementAt>> levels_;
};

// What elements of the result begin with: a reduction of nothing, or what nothing is assigned to, which is there in a dense
// result: loops that leave it out would have assigned zero.
Scalar first_value(const ConcreteStatement& statement) {
  Scalar out = statement.result.fill();
  if (statement.result.format().is_dense()) out = convert(Scalar(int64_t(0)), out.type());
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor != statement.result || a.op == AssignOp::Set) return;
    out = convert(identity(a.op, reduced_type(a.op, type_of(a.rhs))), out.type());
  });
  return out;
}

class Executor {
 public:
  Executor(const ConcreteStatement& statement, Arrays& arrays, const std::map<IndexVar, int64_t>& turns)
      : statement_(statement), provenance_(statement.provenance), arrays_(arrays), turns_(turns) {
    const DenseArray& old = arrays.at(statement.result);
    bool anew = statement.start == Start::Zero;
    out_.emplace(anew ? DenseArray(first_value(statement), old.dims) : old);
    absent_ = std::move(out_->absent);
    absent_.resize(out_->values.size(), anew);
    out_->absent.clear();
  }

  std::vector<bool> run() {
    std::vector<IndexVar> found;
    find_values(found);  // coordinates that are given
    visit(statement_.body);
    arrays_.at(statement_.result) = std::move(*out_);
    return std::move(absent_);
  }

 private:
  // ---- variables: sizes forwards, values backwards ----

  int64_t size(const IndexVar& var) {
    if (const Root* root = provenance_.root(var)) return *root->size.value();
    for (const Made& made : provenance_.made_by(var)->made)
      if (made.var == var) return number(made.size);
    require(false, "a variable is a root or made by a relation");
    return 0;
  }

  int64_t number(const IndexExpr& expr) {
    return match(
        expr, [&](const ValueOf& n) { return values_.at(n.var); }, [&](const SizeOf& n) { return size(n.var); },
        [&](const notation::IndexNumber& n) { return *n.value.value(); },
        [&](const IndexBinary& n) { return combine(n.op, number(n.a), number(n.b)); },
        [&](const StoredCount& n) { return before_end(n.levels) - before_first(n.levels); },
        [&](const StoredBefore& n) { return before_first(n.levels); },
        [&](const StoredCoordinate& n) {
          ElementAt at = stored(n.levels)[size_t(number(n.position))];
          if (n.levels.block) at[n.levels.first] -= number(n.levels.block->first);
          int64_t fused = 0;
          for (size_t level = n.levels.first; level <= n.levels.last; level++)
            fused = fused * size(n.levels.var(level)) + at[level];
          return fused;
        },
        [&](const BlockStart& n) { return start(n.blocks, number(n.number)); },
        [&](const BlockSize& n) {
          int64_t block = number(n.number);
          return start(n.blocks, block + 1) - start(n.blocks, block);
        });
  }

  // Where a block begins that has a share of what operands store.
  int64_t start(const WeightedBlocks& blocks, int64_t block) {
    return weighted_block(size(blocks.var), *blocks.count.value(), block, [&](int64_t coordinate) {
      int64_t sum = 0;
      for (const Access& access : blocks.operands) sum += tree_of(access.tensor).weight_before(coordinate);
      return sum;
    });
  }

  const ElementTree& tree_of(const TensorVar& tensor) {
    auto tree = trees_.find(tensor);
    if (tree == trees_.end()) tree = trees_.emplace(tensor, ElementTree(tensor, arrays_.at(tensor))).first;
    return tree->second;
  }
  std::vector<ElementAt> stored(const Levels& levels) {
    ElementAt prefix;
    for (size_t level = 0; level < levels.first; level++) prefix.push_back(values_.at(levels.var(level)));
    return tree_of(levels.access.tensor).below(prefix, levels.last);
  }

  // How many of the positions lie before a block, or before its end.
  int64_t before_first(const Levels& levels) { return levels.block ? before(levels, number(levels.block->first)) : 0; }
  int64_t before_end(const Levels& levels) {
    return levels.block ? before(levels, number(levels.block->end)) : int64_t(stored(levels).size());
  }
  int64_t before(const Levels& levels, int64_t coordinate) {
    std::vector<ElementAt> all = stored(levels);
    return std::count_if(all.begin(), all.end(), [&](const ElementAt& at) { return at[levels.first] < coordinate; });
  }

  // Finds every variable that is determined by now. False where one lies beyond its size.
  bool find_values(std::vector<IndexVar>& found) {
    const std::vector<Relation>& relations = provenance_.relations;
    for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
      auto known = [&](const IndexVar& v) { return values_.contains(v); };
      std::vector<IndexVar> needs = relation->needs();
      if (known(relation->replaced[0].var) || !std::all_of(needs.begin(), needs.end(), known)) continue;
      for (const Replaced& r : relation->replaced) {
        int64_t value = number(r.value);
        if (value >= size(r.var)) {
          require(r.guard == Guard::Checked, "a value stays below its size where no check is asked for");
          return false;
        }
        values_.emplace(r.var, value);
        found.push_back(r.var);
      }
    }
    return true;
  }

  // ---- statements ----

  void visit(const Stmt& stmt) {
    match(
        stmt, [&](const Forall& n) { visit_loop(n); },
        [&](const Where& n) {
          std::optional<Access> made;
          each<Assign>(n.producer, [&](const Assign& a) {
            if (!made) made = a.lhs;
          });
          ElementAt dims;
          for (const IndexVar& var : made->indices) dims.push_back(size(var));
          arrays_.insert_or_assign(made->tensor, DenseArray(made->tensor.fill(), dims));
          visit(n.producer);
          visit(n.consumer);
          arrays_.erase(made->tensor);
        },
        [&](const Assign& n) { visit_assign(n); },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts) visit(part);
        });
  }

  void visit_loop(const Forall& loop) {
    const Root* root = provenance_.root(loop.var);
    int64_t begin = root && root->fixed ? *root->fixed : 0, end = root && root->fixed ? begin + 1 : size(loop.var);
    if (auto turn = turns_.find(loop.var); turn != turns_.end()) {
      begin = std::max(begin, turn->second);
      end = std::min(end, turn->second + 1);
    }
    for (int64_t v = begin; v < end; v++) {
      std::vector<IndexVar> found{loop.var};
      values_[loop.var] = v;
      if (find_values(found)) visit(loop.body);
      for (const IndexVar& var : found) values_.erase(var);
    }
  }

  void visit_assign(const Assign& assign) {
    DenseArray& target = assign.lhs.tensor == statement_.result ? *out_ : arrays_.at(assign.lhs.tensor);
    ElementAt at = coordinates(assign.lhs);
    auto [value, absent] = evaluate(assign.rhs);
    if (assign.op != AssignOp::Set) value = compute(assign.op, target.at(at), value);
    target.at(at) = convert(value, target.type);
    if (&target != &*out_) return;
    size_t position = target.position(at);
    absent_[position] = absent && (assign.op == AssignOp::Set || absent_[position]);
  }

  ElementAt coordinates(const Access& access) {
    ElementAt at;
    for (const IndexVar& var : access.indices) at.push_back(values_.at(var));
    return at;
  }

  EvaluatedElement evaluate(const Expr& expr) {
    return match(
        expr,
        [&](const Access& n) {
          const DenseArray& array = arrays_.at(n.tensor);
          size_t position = array.position(coordinates(n));
          const Scalar& value = array.values[position];
          // A temporary has a value everywhere; an infinity that stands for nothing in it is nothing.
          if (n.tensor.origin() == Origin::Temporary)
            return EvaluatedElement{value, is_infinite(value) && same_number(value, n.tensor.fill())};
          return EvaluatedElement{value, !array.absent.empty() && array.absent[position]};
        },
        [&](const Literal& n) { return element_of(n); }, [&](const Argument& n) { return EvaluatedElement{n.value}; },
        [&](const Neg& n) { return negate(evaluate(n.a)); },
        [&](const Binary& n) {
          EvaluatedElement a = evaluate(n.a);
          return compute(n, a, evaluate(n.b));
        },
        [&](const Call& n) {
          std::vector<EvaluatedElement> args;
          for (const Expr& arg : n.args) args.push_back(evaluate(arg));
          return compute(n.function, n.domain, args);
        },
        [&](const Reduction&) -> EvaluatedElement {
          require(false, "reductions are loops in concrete notation");
          return {};
        });
  }

  const ConcreteStatement& statement_;
  const Provenance& provenance_;
  Arrays& arrays_;
  const std::map<IndexVar, int64_t>& turns_;
  std::optional<DenseArray> out_;
  std::vector<bool> absent_;  // of the result, by position
  std::unordered_map<IndexVar, int64_t> values_;
  std::map<TensorVar, ElementTree> trees_;
};

}  // namespace

std::vector<bool> execute(const ConcreteStatement& statement, Arrays& arrays,
                          const std::map<IndexVar, int64_t>& turns) {
  return Executor(statement, arrays, turns).run();
}

}  // namespace spdistal::reference
