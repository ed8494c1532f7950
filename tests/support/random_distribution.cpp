#include "support/random_distribution.hpp"

#include <algorithm>

#include "schedule/apply.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

int64_t number(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

int64_t pieces(std::mt19937_64& random) {
  static constexpr int64_t some[] = {1, 2, 2, 3, 3, 4, 5, 7};
  return some[number(random, 0, std::ssize(some) - 1)];
}

bool keep(RandomSchedule& schedule, const Command& command) {
  Result<ConcreteStatement> next = schedule::apply(command, schedule.statement);
  if (!next) return false;
  schedule.statement = *next;
  schedule.commands.push_back(command);
  return true;
}

// Fuses all loops and walks the positions of an operand, where that is allowed.
void walk_positions(std::mt19937_64& random, RandomSchedule& schedule) {
  std::vector<notation::Access> operands;
  each<Assign>(schedule.statement.body, [&](const Assign& assign) {
    each<notation::Access>(assign.rhs, [&](const notation::Access& a) {
      if (a.tensor.order() > 0 && !a.tensor.format().is_dense()) operands.push_back(a);
    });
  });
  if (operands.empty()) return;
  notation::Access operand = operands[size_t(number(random, 0, std::ssize(operands) - 1))];
  size_t levels = size_t(number(random, 1, int64_t(operand.tensor.order())));
  std::vector<IndexVar> run;
  for (size_t k = 0; k < levels; k++) run.push_back(operand.indices[size_t(operand.tensor.format().mode_order()[k])]);
  RandomSchedule tried = schedule;
  std::vector<IndexVar> order = run;
  for (const IndexVar& loop : loop_variables(tried.statement.body))
    if (std::find(run.begin(), run.end(), loop) == run.end()) order.push_back(loop);
  keep(tried, Reorder{order});
  IndexVar fused = run[0];
  for (size_t k = 1; k < run.size(); k++) {
    IndexVar next;
    if (!keep(tried, Fuse{fused, run[k], next})) return;
    fused = next;
  }
  if (keep(tried, Pos{fused, IndexVar(), Expression(Expr(operand))})) schedule = tried;
}

// Divides the loop and brings the outer half to the outside.
bool distribute(std::mt19937_64& random, RandomSchedule& schedule, std::vector<IndexVar>& outside) {
  std::vector<Forall> loops = outer_loops(schedule.statement.body);
  std::vector<IndexVar> free;
  for (const Forall& loop : loops)
    if (std::find(outside.begin(), outside.end(), loop.var) == outside.end()) free.push_back(loop.var);
  if (free.empty()) return false;
  IndexVar var = free[number(random, 0, 2) == 0 ? size_t(number(random, 0, std::ssize(free) - 1)) : 0];
  IndexVar outer, inner;
  RandomSchedule tried = schedule;
  if (!keep(tried, Divide{var, outer, inner, Pieces(pieces(random))})) return false;
  std::vector<IndexVar> order = outside;
  order.push_back(outer);
  for (const Forall& loop : outer_loops(tried.statement.body))
    if (std::find(order.begin(), order.end(), loop.var) == order.end()) order.push_back(loop.var);
  std::vector<IndexVar> now;
  for (const Forall& loop : outer_loops(tried.statement.body)) now.push_back(loop.var);
  if (now != order && !keep(tried, Reorder{order})) return false;
  schedule = tried;
  outside.push_back(outer);
  return true;
}

}  // namespace

Machine draw_machine(std::mt19937_64& random) {
  switch (number(random, 0, 5)) {
    case 0: return Machine(Grid(2, pieces(random)));
    case 1: return Machine(Grid(2, 1, 2));
    case 2: return Machine(Grid(2), Grid(pieces(random)));
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
      }
      std::shuffle(usable.begin(), usable.end(), random);
      std::vector<std::vector<Placement>> levels;
      for (const Grid& grid : machine.levels()) {
        levels.emplace_back();
        for (const Extent& extent : grid.extents()) {
          int64_t kind = number(random, 0, 7);
          if (kind == 0) levels.back().push_back(number(random, 0, *extent.value() - 1));
          else if (kind == 1 || usable.empty()) levels.back().push_back(DistVar());
          else {
            DistVar var = usable.back();
            usable.pop_back();
            if (kind < 4) levels.back().push_back(~var);
            else levels.back().push_back(var);
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

RandomSchedule draw_distributed(std::mt19937_64& random, const ConcreteStatement& statement) {
  RandomSchedule out{{}, statement};
  int64_t kind = number(random, 0, 3);
  if (kind == 0) out = draw_schedule(random, statement, 6);
  if (kind == 1) walk_positions(random, out);
  std::vector<IndexVar> outside;
  distribute(random, out, outside);
  if (!outside.empty() && number(random, 0, 2) == 0) distribute(random, out, outside);
  if (outside.empty()) return out;
  size_t count = outside.size() == 2 && number(random, 0, 3) == 0 ? 1 : outside.size();
  keep(out, Distribute{{outside.begin(), outside.begin() + long(count)}});
  for (const TensorVar& tensor : declared_tensors(out.statement))
    if (number(random, 0, 1) == 0)
      keep(out, Communicate{{TensorRef(std::make_shared<const TensorVar>(tensor))},
                            outside[size_t(number(random, 0, std::ssize(outside) - 1))]});
  return out;
}

}  // namespace spdistal::test
