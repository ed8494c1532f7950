#include "support/random_distribution.hpp"

#include <algorithm>

#include "schedule/apply.hpp"
#include "support/random_number.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

int64_t pieces(std::mt19937_64& random) {
  static constexpr int64_t some[] = {1, 2, 2, 3, 3, 4, 5, 7};
  return pick(random, some);
}

// A random schedule over pieces, made move by move; a move that is refused on its way leaves nothing behind.
class Distributed {
 public:
  Distributed(std::mt19937_64& random, const ConcreteStatement& statement, const Machine* machine)
      : random_(random), schedule_{{}, statement}, machine_(machine) {}

  // Commands of any kind.
  void any(int attempts) { add_commands(random_, schedule_, attempts, machine_); }

  // Walks the positions of some levels of an operand, fused where they are several: from the first level on, or below.
  void walk_positions() {
    std::vector<notation::Access> operands = sparse_operands();
    if (operands.empty()) return;
    notation::Access operand = pick(random_, operands);
    int64_t order = int64_t(operand.tensor.order()), first = one_in(random_, 3) ? number(random_, 0, order - 1) : 0,
            last = number(random_, first, order - 1);
    auto variable = [&](int64_t level) {
      return operand.indices[size_t(operand.tensor.format().mode_order()[size_t(level)])];
    };
    RandomSchedule tried = schedule_;
    std::vector<IndexVar> outside, run;
    for (int64_t k = 0; k < first; k++) outside.push_back(variable(k));
    for (int64_t k = first; k <= last; k++) run.push_back(variable(k));
    reorder(tried, joined(outside, run));
    if (walk(tried, run, operand)) schedule_ = tried;
  }

  // Cuts the rows of an operand into blocks, once or twice, and walks the positions of each.
  void walk_blocks() {
    std::vector<notation::Access> operands = sparse_operands();
    if (operands.empty()) return;
    notation::Access operand = pick(random_, operands);
    auto variable = [&](int64_t level) {
      return operand.indices[size_t(operand.tensor.format().mode_order()[size_t(level)])];
    };
    int64_t last = number(random_, 0, int64_t(operand.tensor.order()) - 1);
    RandomSchedule tried = schedule_;
    IndexVar rows = variable(0);
    std::vector<IndexVar> blocks;
    for (int64_t cuts = one_in(random_, 4) ? 2 : 1; cuts > 0; cuts--) {
      IndexVar outer = new_variable(random_), inner = new_variable(random_);
      Command cut = Divide{rows, outer, inner, machine_ ? Pieces(machine_->x) : Pieces(pieces(random_))};
      if (one_in(random_, 4)) cut = Split{rows, outer, inner, number(random_, 1, 3)};
      if (Divide* divide = std::get_if<Divide>(&cut); divide && one_in(random_, 3)) divide->weights = weights_of(rows);
      if (!try_command(tried, cut)) return;
      blocks.push_back(outer);
      rows = inner;
    }
    std::vector<IndexVar> run{rows};
    for (int64_t k = 1; k <= last; k++) run.push_back(variable(k));
    reorder(tried, joined(blocks, run));
    if (!walk(tried, run, operand)) return;
    schedule_ = tried;
    outside_ = blocks;
  }

  // Two neighbouring loops in one, whatever they count.
  void fuse_neighbours() {
    std::vector<IndexVar> all = loops();
    if (all.size() < 2) return;
    size_t at = size_t(number(random_, 0, int64_t(all.size()) - 2));
    try_command(schedule_, Fuse{all[at], all[at + 1], new_variable(random_)});
  }

  // Cuts a loop, and takes its outer half to the outside; or takes the loop itself there.
  void take_outside() {
    std::vector<IndexVar> free = without(loops(), outside_);
    if (free.empty()) return;
    IndexVar var = one_in(random_, 3) ? pick(random_, free) : free[0], outer = var;
    RandomSchedule tried = schedule_;
    if (!one_in(random_, 6)) {
      IndexVar inner = new_variable(random_);
      outer = new_variable(random_);
      bool by_machine = machine_ && one_in(random_, 3);
      Command cut = Divide{var, outer, inner, by_machine ? Pieces(machine_->x) : Pieces(pieces(random_))};
      if (one_in(random_, 6)) cut = Split{var, outer, inner, number(random_, 1, 3)};
      if (Divide* divide = std::get_if<Divide>(&cut); divide && one_in(random_, 3)) divide->weights = weights_of(var);
      if (!try_command(tried, cut)) return;
    }
    std::vector<IndexVar> order = joined(outside_, {outer});
    if (!reorder(tried, order)) return;
    schedule_ = tried;
    outside_ = order;
  }

  // Some of the tensors that a loop can be cut by the weight of.
  std::vector<TensorRef> weights_of(const IndexVar& loop) {
    std::vector<TensorRef> out;
    for (const TensorVar& tensor : declared_tensors(schedule_.statement)) {
      TensorRef weight(std::make_shared<const TensorVar>(tensor));
      Divide by_weight{loop, IndexVar(), IndexVar(), 2, {weight}};
      if (schedule::apply(by_weight, schedule_.statement) && !one_in(random_, 3)) out.push_back(weight);
    }
    return out;
  }

  // Distributes the loops that were taken outside, all or the first of them.
  bool distribute() {
    if (outside_.empty()) return false;
    size_t count = outside_.size() == 2 && one_in(random_, 4) ? 1 : outside_.size();
    return try_command(schedule_, Distribute{{outside_.begin(), outside_.begin() + long(count)}});
  }

  // Fetches at distributed loops, or further inside.
  void communicate() {
    std::vector<IndexVar> all = loops();
    for (const TensorVar& tensor : declared_tensors(schedule_.statement))
      if (!all.empty() && one_in(random_, 2))
        try_command(schedule_,
                    Communicate{{TensorRef(std::make_shared<const TensorVar>(tensor))},
                                outside_.empty() || one_in(random_, 3) ? pick(random_, all) : pick(random_, outside_)});
  }

  // Starts a loop elsewhere for every turn of those around it.
  void rotate() {
    std::vector<IndexVar> all = loops();
    if (all.size() < 2) return;
    size_t at = size_t(number(random_, 1, int64_t(all.size()) - 1));
    std::vector<IndexVar> around(all.begin(), all.begin() + long(at));
    std::shuffle(around.begin(), around.end(), random_);
    around.resize(size_t(number(random_, 1, int64_t(at))));
    try_command(schedule_, Rotate{all[at], around, new_variable(random_)});
  }

  const RandomSchedule& schedule() const { return schedule_; }

 private:
  std::vector<notation::Access> sparse_operands() const {
    std::vector<notation::Access> out;
    each<Assign>(schedule_.statement.body, [&](const Assign& assign) {
      each<notation::Access>(assign.rhs, [&](const notation::Access& a) {
        if (a.tensor.order() > 0 && !a.tensor.format().is_dense()) out.push_back(a);
      });
    });
    return out;
  }
  // Fuses loops that follow each other, and walks positions in their place.
  bool walk(RandomSchedule& tried, const std::vector<IndexVar>& run, const notation::Access& operand) {
    IndexVar fused = run[0];
    for (size_t k = 1; k < run.size(); k++) {
      IndexVar next = new_variable(random_);
      if (!try_command(tried, Fuse{fused, run[k], next})) return false;
      fused = next;
    }
    return try_command(tried, Pos{fused, new_variable(random_), Expression(Expr(operand))});
  }
  std::vector<IndexVar> loops() const {
    std::vector<IndexVar> out;
    for (const Forall& loop : outer_loops(schedule_.statement.body)) out.push_back(loop.var);
    return out;
  }
  static std::vector<IndexVar> without(std::vector<IndexVar> all, const std::vector<IndexVar>& some) {
    std::erase_if(all, [&](const IndexVar& v) { return std::find(some.begin(), some.end(), v) != some.end(); });
    return all;
  }
  static std::vector<IndexVar> joined(std::vector<IndexVar> a, const std::vector<IndexVar>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  // Brings loops to the outside in this order; the others stay behind them as they are.
  static bool reorder(RandomSchedule& tried, const std::vector<IndexVar>& first) {
    std::vector<IndexVar> now;
    for (const Forall& loop : outer_loops(tried.statement.body)) now.push_back(loop.var);
    std::vector<IndexVar> order = joined(first, without(now, first));
    return now == order || try_command(tried, Reorder{order});
  }

  std::mt19937_64& random_;
  RandomSchedule schedule_;
  const Machine* machine_;
  std::vector<IndexVar> outside_;
};

}  // namespace

Machine draw_machine(std::mt19937_64& random) {
  switch (number(random, 0, 7)) {
    case 0: return Machine(Grid(2, pieces(random)));
    case 1: return Machine(Grid(2, 1, 2));
    case 2: return Machine(Grid(2), Grid(pieces(random)));
    case 3: return Machine(Grid(pieces(random)), Grid(2, 2));
    case 4: return Machine(Grid(2), Grid(2), Grid(2));
    default: return Machine(Grid(pieces(random)));
  }
}

TensorVar draw_placed(std::mt19937_64& random, const TensorVar& tensor, const Machine& machine) {
  for (int attempt = 0; attempt < 20; attempt++) try {
      std::vector<DistVar> dims(tensor.order());
      std::vector<DistFusion> fusions;
      std::vector<DistVar> usable = dims;
      if (tensor.order() > 1 && number(random, 0, 2) == 0) {
        size_t count = size_t(number(random, 2, int64_t(tensor.order())));
        std::vector<DistVar> run;
        for (size_t k = 0; k < count; k++) run.push_back(dims[size_t(tensor.format().mode_order()[k])]);
        DistVar f;
        fusions.push_back(fuse(run, f));
        std::erase_if(usable, [&](const DistVar& v) { return std::find(run.begin(), run.end(), v) != run.end(); });
        usable.push_back(f);
        if (number(random, 0, 1) == 0) usable.push_back(run[0]);  // rows, and the non-zeros of their blocks
      }
      std::shuffle(usable.begin(), usable.end(), random);
      std::vector<std::vector<Placement>> levels;
      std::vector<Placement> placed;  // by the grids around: parts can be dealt out further
      for (const Grid& grid : machine.levels()) {
        std::vector<Placement> around = placed;
        levels.emplace_back();
        for (const Extent& extent : grid.extents()) {
          int64_t kind = number(random, 0, 7);
          if (kind == 0) levels.back().push_back(number(random, 0, *extent.value() - 1));
          else if (kind < 6 && !around.empty()) {
            levels.back().push_back(around.back());
            around.pop_back();
          } else if (kind == 1 || usable.empty()) levels.back().push_back(DistVar());
          else {
            DistVar var = usable.back();
            usable.pop_back();
            levels.back().push_back(kind < 4 ? Placement(~var) : Placement(var));
            placed.push_back(levels.back().back());
          }
        }
      }
      Format format(tensor.format(), Distribution(dims, fusions, machine, levels));
      return TensorVar({tensor.symbol(), tensor.type(), tensor.dims(), format});
    } catch (const UserError&) {
      // Not every draw is a distribution.
    }
  return tensor;
}

RandomSchedule draw_distributed(std::mt19937_64& random, const ConcreteStatement& statement, const Machine* machine) {
  Distributed out(random, statement, machine);
  // Most are what people write: positions or coordinates, cut, distributed, fetched.
  bool odd = one_in(random, 3);
  if (odd && one_in(random, 2)) out.any(6);
  if (one_in(random, 4)) out.walk_blocks();
  else if (one_in(random, 3)) out.walk_positions();
  if (odd && one_in(random, 3)) out.walk_positions();
  if (odd && one_in(random, 2)) out.fuse_neighbours();
  out.take_outside();
  if (one_in(random, 3)) out.take_outside();
  out.distribute();
  if (odd && one_in(random, 2)) out.walk_positions();
  if (odd && one_in(random, 3)) out.rotate();
  out.communicate();
  if (odd && one_in(random, 2)) out.any(6);
  return out.schedule();
}

}  // namespace spdistal::test
