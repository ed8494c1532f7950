#include "schedule/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "format/non_zero.hpp"
#include "machine/print.hpp"
#include "schedule/apply.hpp"

namespace spdistal::schedule {

using namespace notation;

namespace {

// Where elements live has nothing to do with what those count as that are not stored.
TensorVar without_fill(const TensorVar& tensor) {
  if (!tensor.format().fill()) return tensor;
  return TensorVar({tensor.symbol(), tensor.type(), tensor.dims(), tensor.format().filled(0), tensor.origin()});
}

class Placer {
 public:
  explicit Placer(const TensorVar& tensor)
      : tensor_(without_fill(tensor)), distribution_(*tensor.format().distribution()), names_(distribution_) {}

  PlacedTensor run() {
    ConcreteStatement initial = copy_onto_itself();
    PlacedTensor out{initial, {}, initial};
    for (const DistFusion& fusion : distribution_.fusions())
      if (!goes_into_non_zeros(fusion.fused)) {
        std::vector<IndexVar> run;
        for (const DistVar& part : fusion.vars) run.push_back(loop_of_.at(part));
        loop_of_.insert_or_assign(fusion.fused, fuse_loops(run, names_.name(fusion.fused)));
      }
    for (const DistVar& var : non_zeros()) {
      divide_all(
          [&](const DistVar& placed) { return has_blocks_of(placed, var); });  // rows, whose blocks have positions
      walk_positions(var);
    }
    divide_all([](const DistVar&) { return true; });
    for (size_t level = 0; level < distribution_.levels().size(); level++)
      for (size_t dim = 0; dim < distribution_.levels()[level].size(); dim++)
        distributed_.push_back(machine_loop_.at({level, dim}));
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

  // Puts the loops side by side at the place of the first and makes one of them.
  IndexVar fuse_loops(const std::vector<IndexVar>& run, const std::string& name) {
    std::vector<IndexVar> order;
    auto in_run = [&](const IndexVar& v) { return std::find(run.begin(), run.end(), v) != run.end(); };
    for (const IndexVar& var : loops_) {
      if (!in_run(var)) order.push_back(var);
      else if (std::none_of(order.begin(), order.end(), in_run)) order.insert(order.end(), run.begin(), run.end());
    }
    reorder(order);
    IndexVar outer = run[0];
    for (size_t k = 1; k < run.size(); k++) {
      IndexVar fused(k + 1 == run.size() ? name : outer.name() + run[k].name());
      commands_.push_back(Fuse{outer, run[k], fused});
      replace(outer, {fused});
      loops_.erase(std::find(loops_.begin(), loops_.end(), run[k]));
      outer = fused;
    }
    return outer;
  }

  std::vector<DistVar> non_zeros() const {
    std::vector<DistVar> out;
    for (const std::vector<Placement>& level : distribution_.levels())
      for (const Placement& placement : level)
        if (auto* non_zero = std::get_if<NonZero>(&placement.what());
            non_zero && std::find(out.begin(), out.end(), non_zero->var) == out.end())
          out.push_back(non_zero->var);
    return out;
  }
  bool goes_into_non_zeros(const DistVar& fused) const {
    std::vector<DistVar> walked = non_zeros();
    if (std::find(walked.begin(), walked.end(), fused) != walked.end()) return true;
    for (const DistFusion& fusion : distribution_.fusions())
      if (std::find(fusion.vars.begin(), fusion.vars.end(), fused) != fusion.vars.end())
        return goes_into_non_zeros(fusion.fused);
    return false;
  }

  // ~var: all levels whose positions it counts, fused in storage order.
  void walk_positions(const DistVar& var) {
    std::vector<IndexVar> run;
    for (size_t level = 0; level < levels_split_by(tensor_.format(), distribution_, var); level++)
      run.push_back(loop_of_.at(distribution_.dims()[size_t(tensor_.format().mode_order()[level])]));
    bool fused = distribution_.dims_of(var).size() > 1;
    std::string name;
    for (const IndexVar& loop : run) name += loop.name();
    IndexVar loop = fuse_loops(run, fused ? names_.name(var) : name), position(loop.name() + "p");
    commands_.push_back(Pos{loop, position, Expression(Expr(*access_))});
    replace(loop, {position});
    loop_of_.insert_or_assign(var, position);
  }

  bool has_blocks_of(const DistVar& placed, const DistVar& var) const {
    std::vector<size_t> dims = distribution_.dims_of(placed);
    return dims.size() == 1 && spdistal::has_blocks_of(tensor_.format(), distribution_, var, dims[0]);
  }

  template <class F>
  void divide_all(F&& wanted) {
    for (size_t level = 0; level < distribution_.levels().size(); level++)
      for (size_t dim = 0; dim < distribution_.levels()[level].size(); dim++) {
        const DistVar* var = distribution_.levels()[level][dim].var();
        if (!machine_loop_.contains({level, dim}) && wanted(*var)) divide(level, dim);
      }
  }
  void divide(size_t level, size_t dim) {
    const Placement& placement = distribution_.levels()[level][dim];
    IndexVar var = loop_of_.at(*placement.var());
    IndexVar outer(var.name() + "o"), inner(var.name() + "i");
    commands_.push_back(Divide{var, outer, inner, distribution_.machine().dim(dim, level)});
    replace(var, {outer, inner});
    loop_of_.insert_or_assign(*placement.var(), inner);
    machine_loop_.emplace(std::pair{level, dim}, outer);
  }

  void replace(const IndexVar& var, const std::vector<IndexVar>& by) {
    auto at = loops_.erase(std::find(loops_.begin(), loops_.end(), var));
    loops_.insert(at, by.begin(), by.end());
  }

  TensorVar tensor_;
  const Distribution& distribution_;
  DistributionPrinter names_;
  std::optional<notation::Access> access_;
  std::map<DistVar, IndexVar> loop_of_;
  std::map<std::pair<size_t, size_t>, IndexVar> machine_loop_;  // that runs over a dimension of the machine
  std::vector<IndexVar> loops_, distributed_;
  std::vector<Command> commands_;
};

}  // namespace

PlacedTensor place(const TensorVar& tensor) { return Placer(tensor).run(); }

}  // namespace spdistal::schedule
