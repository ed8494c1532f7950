#include "schedule/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "machine/print.hpp"
#include "schedule/apply.hpp"

namespace spdistal::schedule {

using namespace notation;

namespace {

class Placer {
 public:
  explicit Placer(const TensorVar& tensor)
      : tensor_(tensor), distribution_(*tensor.format().distribution()), names_(distribution_) {}

  PlacedTensor run() {
    ConcreteStatement initial = copy_onto_itself();
    PlacedTensor out{initial, {}, initial};
    for (const DistFusion& fusion : distribution_.fusions()) fuse_loops(fusion);
    for (size_t level = 0; level < distribution_.levels().size(); level++)
      for (size_t dim = 0; dim < distribution_.levels()[level].size(); dim++) divide(level, dim);
    std::vector<IndexVar> order = distributed_;
    for (const IndexVar& var : loops_)
      if (std::find(order.begin(), order.end(), var) == order.end()) order.push_back(var);
    reorder(order);
    commands_.push_back(Distribute{distributed_});
    commands_.push_back(Communicate{{TensorRef(std::make_shared<const TensorVar>(tensor_))}, distributed_.back()});
    out.commands = commands_;
    out.scheduled = schedule::apply(commands_, initial).value();
    return out;
  }

 private:
  // T(x,y) = T(x,y), with loops in storage order inside those over machine dimensions that no tensor dimension names.
  ConcreteStatement copy_onto_itself() {
    std::vector<IndexVar> indices;
    Provenance provenance;
    for (size_t d = 0; d < tensor_.order(); d++) {
      IndexVar var(names_.name(distribution_.dims()[d]));
      indices.push_back(var);
      loop_of_.insert_or_assign(distribution_.dims()[d], var);
      provenance.roots.push_back({var, tensor_.dims()[d]});
    }
    access_ = notation::Access{tensor_, indices};
    for (size_t level = 0; level < distribution_.levels().size(); level++)
      for (size_t dim = 0; dim < distribution_.levels()[level].size(); dim++) {
        const Placement& placement = distribution_.levels()[level][dim];
        GridDim size = distribution_.machine().dim(dim, level);
        if (auto* coordinate = std::get_if<int64_t>(&placement.what())) {
          IndexVar var(level == 0 ? fmt::format("m{}", dim + 1) : fmt::format("m{}_{}", level + 1, dim + 1));
          provenance.roots.push_back({var, size, *coordinate});
          machine_loop_.emplace(std::pair{level, dim}, var);
          loops_.push_back(var);
        } else if (distribution_.dims_of(*placement.var()).empty()) {
          IndexVar var(names_.name(*placement.var()));
          provenance.roots.push_back({var, size});
          machine_loop_.emplace(std::pair{level, dim}, var);
          loops_.push_back(var);
        }
      }
    for (int d : tensor_.format().mode_order()) loops_.push_back(indices[size_t(d)]);
    Stmt body = Assign{*access_, AssignOp::Set, *access_};
    for (auto var = loops_.rbegin(); var != loops_.rend(); ++var) body = Forall{*var, body};
    return {body, std::move(provenance), tensor_, Start::Old};
  }

  void reorder(const std::vector<IndexVar>& order) {
    if (order == loops_) return;
    commands_.push_back(Reorder{order});
    loops_ = order;
  }

  // The parts side by side at the place of the first, in storage order where positions are to be counted.
  void fuse_loops(const DistFusion& fusion) {
    std::vector<DistVar> parts = fusion.vars;
    auto level = [&](const DistVar& v) { return tensor_.format().level_of(distribution_.dims_of(v)[0]); };
    if (is_non_zero(fusion.fused))
      std::sort(parts.begin(), parts.end(), [&](const DistVar& a, const DistVar& b) { return level(a) < level(b); });
    std::vector<IndexVar> run, order;
    for (const DistVar& part : parts) run.push_back(loop_of_.at(part));
    auto in_run = [&](const IndexVar& v) { return std::find(run.begin(), run.end(), v) != run.end(); };
    for (const IndexVar& var : loops_) {
      if (!in_run(var)) order.push_back(var);
      else if (std::none_of(order.begin(), order.end(), in_run)) order.insert(order.end(), run.begin(), run.end());
    }
    reorder(order);
    IndexVar outer = run[0];
    for (size_t k = 1; k < run.size(); k++) {
      IndexVar fused(k + 1 == run.size() ? names_.name(fusion.fused) : "");
      commands_.push_back(Fuse{outer, run[k], fused});
      replace(outer, {fused});
      loops_.erase(std::find(loops_.begin(), loops_.end(), run[k]));
      outer = fused;
    }
    loop_of_.insert_or_assign(fusion.fused, outer);
  }

  bool is_non_zero(const DistVar& var) const {
    for (const std::vector<Placement>& level : distribution_.levels())
      for (const Placement& placement : level)
        if (auto* non_zero = std::get_if<NonZero>(&placement.what()); non_zero && non_zero->var == var) return true;
    return false;
  }

  void divide(size_t level, size_t dim) {
    if (auto machine = machine_loop_.find({level, dim}); machine != machine_loop_.end()) {
      distributed_.push_back(machine->second);
      return;
    }
    const Placement& placement = distribution_.levels()[level][dim];
    IndexVar var = loop_of_.at(*placement.var());
    if (std::holds_alternative<NonZero>(placement.what())) {
      IndexVar position(var.name() + "p");
      commands_.push_back(Pos{var, position, Expression(Expr(*access_))});
      replace(var, {position});
      var = position;
    }
    IndexVar outer(var.name() + "o"), inner(var.name() + "i");
    commands_.push_back(Divide{var, outer, inner, distribution_.machine().dim(dim, level)});
    replace(var, {outer, inner});
    loop_of_.insert_or_assign(*placement.var(), inner);
    distributed_.push_back(outer);
  }

  void replace(const IndexVar& var, const std::vector<IndexVar>& by) {
    auto at = loops_.erase(std::find(loops_.begin(), loops_.end(), var));
    loops_.insert(at, by.begin(), by.end());
  }

  const TensorVar& tensor_;
  const Distribution& distribution_;
  DistributionPrinter names_;
  std::optional<notation::Access> access_;
  std::map<DistVar, IndexVar> loop_of_;
  std::map<std::pair<size_t, size_t>, IndexVar> machine_loop_;
  std::vector<IndexVar> loops_, distributed_;
  std::vector<Command> commands_;
};

}  // namespace

PlacedTensor place(const TensorVar& tensor) { return Placer(tensor).run(); }

}  // namespace spdistal::schedule
