#include "compile/positions.hpp"

#include <algorithm>
#include <numeric>

#include "format/questions.hpp"
#include "level/level.hpp"
#include "lower/lower.hpp"
#include "tensor/slices.hpp"

namespace spdistal {

using namespace notation;

namespace {

// The stored elements below the positions before one of the first level, which may be the end of it.
int64_t elements_before(const Pattern& pattern, int64_t position) {
  for (size_t k = 1; k < pattern.order() && position > 0; k++) {
    if (pattern.level(k).positions == 0) return 0;
    position = functions_of(pattern.format().levels()[k]).children(pattern.level(k), position - 1).hi;
  }
  return position;
}

}  // namespace

double imbalance(runtime::Transport& transport, const Home& home, int64_t pieces) {
  std::vector<int64_t> counts(static_cast<size_t>(pieces));
  int64_t n = home.dims()[size_t(home.format().mode_order()[0])];
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    if (home.owns_nothing(q)) continue;
    const Pattern& pattern = home.piece(q).pattern();
    for (int64_t c = 0; c < pieces; c++) {
      Range rows = block(n, pieces, c);
      counts[size_t(c)] += elements_before(pattern, first_position(pattern, rows.hi)) -
                           elements_before(pattern, first_position(pattern, rows.lo));
    }
  }
  transport.allreduce(counts.data(), counts.size(), ScalarType::Int64, runtime::ReduceOp::Sum);
  int64_t most = *std::max_element(counts.begin(), counts.end());
  int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  return all == 0 ? 1 : double(most) * double(pieces) / double(all);
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
