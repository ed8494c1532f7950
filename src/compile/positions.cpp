#include "compile/positions.hpp"

#include <algorithm>

#include "format/questions.hpp"
#include "lower/lower.hpp"
#include "schedule/apply.hpp"
#include "tensor/weights.hpp"

namespace spdistal {

using namespace notation;

double imbalance(runtime::Transport& transport, const Home& home, int64_t pieces) {
  int64_t rows = home.dims()[size_t(home.format().mode_order()[0])];
  return imbalance(transport, {&home}, equal_cuts(rows, pieces));
}

bool is_scattered(runtime::Transport& transport, const Home& home) {
  constexpr int64_t samples = 64, near = 16;
  int64_t counts[] = {0, 0};  // of neighbours, and of those that are far from each other
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    if (home.owns_nothing(q)) continue;
    const Pattern& pattern = home.piece(q).pattern();
    const LevelArrays& last = pattern.level(pattern.order() - 1);
    auto coordinate = functions_of(pattern.format().levels().back()).coordinate;
    for (int64_t p = 0; p + 1 < last.positions; p += last.positions / samples + 1) {
      counts[0]++;
      counts[1] += std::abs(coordinate(last, p + 1) - coordinate(last, p)) > near;
    }
  }
  transport.allreduce(counts, std::size(counts), ScalarType::Int64, runtime::ReduceOp::Sum);
  return 2 * counts[1] > counts[0];
}

bool shares_pattern(const ConcreteStatement& statement, const notation::Access& operand) {
  std::optional<notation::Access> shared = lower::shared_operand(statement);
  return shared && shared->tensor == operand.tensor && shared->indices == operand.indices;
}

bool can_follow(const ConcreteStatement& statement, Residence residence, const notation::Access& operand) {
  if (statement.result.format().is_dense()) return true;
  return residence == Residence::Anywhere && shares_pattern(statement, operand);
}

std::optional<Walked> walked_operand(const ConcreteStatement& statement, const Homes& homes) {
  std::vector<Forall> loops = outer_loops(statement.body);
  if (loops.empty() || !loops.back().body.is<Assign>()) return {};
  const Assign& assign = *loops.back().body.as<Assign>();
  std::optional<Walked> out;
  each<notation::Access>(assign.rhs, [&](const notation::Access& a) {
    const Format& format = a.tensor.format();
    if (out || a.tensor.order() < 2 || format.is_dense() || !homes.contains(a.tensor)) return;
    if (stores_all(format.levels().back())) return;
    for (size_t k = 0; k < a.tensor.order(); k++)
      if (k >= loops.size() || !(loops[k].var == a.indices[size_t(format.mode_order()[k])])) return;
    const std::vector<IndexVar>& result = assign.lhs.indices;
    size_t common = 0;
    while (common < a.tensor.order() && std::find(result.begin(), result.end(), loops[common].var) != result.end())
      common++;
    out = Walked{a, homes.at(a.tensor), common};
  });
  return out;
}

std::vector<TensorRef> weights_of(const ConcreteStatement& statement, const IndexVar& loop, const Homes& homes) {
  std::vector<TensorRef> out;
  for (const TensorVar& tensor : declared_tensors(statement)) {
    TensorRef weight(std::make_shared<const TensorVar>(tensor));
    Divide by_weight{loop, IndexVar(), IndexVar(), 2, {weight}};
    if (homes.contains(tensor) && schedule::apply(by_weight, statement)) out.push_back(weight);
  }
  return out;
}

std::vector<Command> into_positions(const ConcreteStatement& statement, const notation::Access& a, size_t levels,
                                    const IndexVar& position) {
  std::vector<Forall> loops = outer_loops(statement.body);
  std::vector<Command> commands;
  IndexVar fused = loops[0].var;
  for (size_t k = 1; k < levels; k++) {
    IndexVar next(k + 1 == levels ? "f" : "f" + std::to_string(k));
    commands.push_back(Fuse{fused, loops[k].var, next});
    fused = next;
  }
  commands.push_back(Pos{fused, position, Expression(Expr(a))});
  return commands;
}

}  // namespace spdistal
