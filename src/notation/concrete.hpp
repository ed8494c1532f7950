// Concrete index notation: index notation with its loops, temporaries and order of execution written out. It is what
// scheduling commands rewrite and what lowering starts from.
//
//   forall i                       loops
//     where                        the consumer reads a temporary that the producer makes first
//       a(i) = b(i) + t
//     t
//       forall j
//         t += B(i,j) * c(j)
//
// Always holds (`verify`): every loop variable has one loop, every variable that is read can be found from the loops
// around it, and a temporary is written in the producer of the `where` that introduces it and nowhere else.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/node.hpp"
#include "notation/index_notation.hpp"
#include "notation/provenance.hpp"
#include "spdistal/result.hpp"
#include "spdistal/schedule/words.hpp"

namespace spdistal::notation {

struct StmtKinds;
using Stmt = Handle<StmtKinds>;

struct Parallel {
  Unit unit;
  Race race;
  bool operator==(const Parallel&) const = default;
};
enum class LoopPlace : uint8_t { Local, Distributed };

/// What has been decided about one loop.
struct LoopTags {
  LoopPlace place = LoopPlace::Local;       // Distributed: iterations run on different pieces of the machine
  std::vector<TensorVar> communicate = {};  // fetched at the start of each iteration
  std::optional<Parallel> parallel = {};    // iterations run side by side
  int64_t unroll = 1;                       // iterations written out per turn
  std::string leaf = {};                    // the library routine that replaces this loop and all inside, or empty
  static constexpr auto fields =
      std::tuple{&LoopTags::place, &LoopTags::communicate, &LoopTags::parallel, &LoopTags::unroll, &LoopTags::leaf};
  bool operator==(const LoopTags&) const = default;
};

struct Forall {
  IndexVar var;
  Stmt body;
  LoopTags tags = {};
  static constexpr auto fields = std::tuple{&Forall::var, &Forall::body, &Forall::tags};
};
/// The temporary that the producer writes holds its fill value at first, for each execution of the where.
struct Where {
  Stmt consumer, producer;
  static constexpr auto fields = std::tuple{&Where::consumer, &Where::producer};
};
struct Assign {
  Access lhs;
  AssignOp op;
  Expr rhs;
  static constexpr auto fields = std::tuple{&Assign::lhs, &Assign::op, &Assign::rhs};
};
struct Sequence {
  std::vector<Stmt> stmts;
  static constexpr auto fields = std::tuple{&Sequence::stmts};
};
struct StmtKinds : Kinds<Forall, Where, Assign, Sequence> {
  using Trees = Families<ExprKinds, StmtKinds>;
};

/// What the result holds before the first iteration: its background (`background_of`, mostly zero), or what it held before the
/// statement (+=).
enum class Start : uint8_t { Zero, Old };

struct ConcreteStatement {
  Stmt body;
  Provenance provenance;
  TensorVar result;
  Start start;
};

/// The loops from the root down to the first statement that is no loop.
std::vector<Forall> outer_loops(const Stmt& stmt);
/// The loops around the loop over var, outermost first, and that loop last; empty where there is none.
std::vector<Forall> loops_to(const Stmt& stmt, const IndexVar& var);
const Forall* find_loop(const Stmt& stmt, const IndexVar& var);
/// Every loop variable, outermost first.
std::vector<IndexVar> loop_variables(const Stmt& stmt);
/// Every tensor that is declared by the user, the result first.
std::vector<TensorVar> declared_tensors(const ConcreteStatement& statement);
/// The statement with the loop over var replaced by f(loop).
template <class F>
Stmt replace_loop(const Stmt& stmt, const IndexVar& var, F&& f) {
  return rewrite(stmt, [&](const Forall& loop) -> Stmt { return loop.var == var ? Stmt(f(loop)) : Stmt(loop); });
}

/// The statement without its loops over these variables: what is done for one value of each.
ConcreteStatement strip_loops(ConcreteStatement statement, const std::vector<IndexVar>& vars);

/// The invariants above; the refusal says which is broken. Variables in `outer` have their loops around the statement.
Result<> verify(const ConcreteStatement& statement, const std::vector<IndexVar>& outer = {});

}  // namespace spdistal::notation

template <>
struct std::hash<spdistal::notation::Parallel> {
  size_t operator()(const spdistal::notation::Parallel& p) const { return size_t(p.unit) * 8 + size_t(p.race); }
};

namespace spdistal {

SPDISTAL_EXTERN_FAMILY(notation::StmtKinds)

}  // namespace spdistal
