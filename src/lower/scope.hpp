// What is known at one place of a kernel under way: a value. A loop hands an extended copy to what is inside of it and goes
// on with its own, so that nothing is ever put back.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "level/kernel.hpp"
#include "notation/concrete.hpp"

namespace spdistal::lower {

/// How far an access has gone down its levels.
struct AccessState {
  size_t level = 0;                      // the next level to go to
  ir::Expr position = ir::int64(0);      // at the level before
  std::optional<ir::Expr> present = {};  // a bool; empty: certainly stored
  std::optional<ir::Expr> group = {};    // of a level that repeats coordinates: positions up to here belong together
  std::vector<ir::Expr> path = {};       // positions at all levels before
  std::optional<ir::Expr> value = {};    // of an element that was read already, zero where it is not stored
};

/// A temporary of a where: a scalar, a dense array, or an array with a list of what was touched.
struct Temporary {
  ir::Var values;                                            // a mutable scalar or an array
  std::vector<ir::Expr> sizes;                               // of its dimensions
  std::optional<ir::Var> marks = {}, list = {}, count = {};  // of a sparse one: touched or not, what, how many
  /// Of one that may be hashed: `places` is how many places the arrays have.
  struct Hash {
    ir::Expr hashed, places;
    ir::Var keys, slots;  // whose place it is; the places of touched coordinates as they came
  };
  std::optional<Hash> hash = {};
  std::optional<IndexVar> cleaned_by = {};     // the loop that reads all of it once, and cleans it by the way
  std::optional<notation::Stmt> made_by = {};  // of a scalar: what tells where it is made
  std::optional<ir::Var> there = {};           // as `values`, a bool: has a value come? Where a quotient asks
};

/// Values of variables, as they were found: of levels the last one's first.
using FoundValues = std::vector<std::pair<IndexVar, ir::Expr>>;

/// How the elements of the result stand that are written from here.
struct Elements {
  bool covered = true;                        // the loops so far visit every one
  bool zeroed = false;                        // the kernel zeroed them before
  bool revisited = false;                     // the loops outside come to the same ones more than once
  std::optional<IndexVar> raced = {};         // other threads, which run turns of this loop, write the same ones
  std::optional<ir::Var> sum = {}, any = {};  // of the one that a reduction is working on
  /// An array of this thread's where additions go for now, and the variables it has dimensions for.
  struct Apart {
    Temporary sums;
    std::vector<IndexVar> indices;
  };
  std::optional<Apart> apart = {};
};

/// How many entries come to each place of the dense levels, later where the next of them goes; each share has its own.
struct Tally {
  ir::Var counts;
  ir::Expr places;                // of each share
  ir::Expr first = ir::int64(0);  // of the share at hand
};

/// Arrays that stand for those of the result, such as those that a share fills for itself.
struct StandIns final : KernelParams {
  StandIns(KernelParams& of, std::vector<std::pair<ir::Var, ir::Var>> stand_ins)
      : whole(of), arrays(std::move(stand_ins)) {}
  ir::Body& body() override { return whole.body(); }
  ir::Var array(int tensor, size_t level, std::string_view name) override {
    return stand_in(whole.array(tensor, level, name));
  }
  ir::Expr first_coordinate(int tensor, size_t level) override { return whole.first_coordinate(tensor, level); }
  ir::Expr stride(int tensor, size_t level) override { return whole.stride(tensor, level); }
  ir::Var stand_in(const ir::Var& of) const {
    for (const auto& [array, other] : arrays)
      if (array.symbol == of.symbol) return other;
    return of;
  }

  KernelParams& whole;
  std::vector<std::pair<ir::Var, ir::Var>> arrays;
};

struct Scope;
using Inside = std::function<void(const Scope& scope)>;

/// May every turn be a share of its own, or are there things to find for each share that many turns use?
enum class Grain : uint8_t { Turn, Share };

/// Which share of the outermost loop is walked, of how many; and what is done in the place of walking, where that is more.
struct WalkedShare {
  ir::Expr number, count;
  Grain grain = Grain::Share;
  std::function<void(const Scope& scope, const Segment& mine, const Inside& walk)> around = {};
};

/// Where the entries of a result that is assembled go.
struct Assembling {
  ir::Expr fills = ir::literal(ir::Scalar::of(true));     // a bool: are entries put down, or only counted?
  ir::Expr in_part = ir::literal(ir::Scalar::of(false));  // a bool: does what is filled not know where it begins?
  std::vector<ir::Var> cursors = {};                      // of the levels that are not dense, or of the list
  std::optional<Tally> tally = {};
  std::shared_ptr<StandIns> arrays = {};  // in the place of those of the result
};

/// Are there threads for a loop to be divided among, or is what is here one thread's?
enum class Parallelism : uint8_t { Free, Taken };

struct Scope {
  std::map<IndexVar, ir::Expr> values = {};  // of the variables known here
  std::map<IndexVar, Segment> blocks = {};   // at hand, of variables that are cut by weight
  std::vector<AccessState> accesses = {};    // one per operand
  std::map<notation::TensorVar, Temporary> temporaries = {};
  std::vector<std::set<int>> some_present = {};  // operands of which at least one is stored here
  std::optional<ir::Var> summed = {};            // the right side of the statement at hand, added up already
  Elements elements = {};
  Assembling assembling = {};
  Parallelism threads = Parallelism::Free;
  std::optional<WalkedShare> share = {};  // until the outermost loop has taken its own
  std::optional<Segment> segment = {};    // or what it walks was told

  bool knows(const IndexVar& var) const { return values.contains(var); }
  const AccessState& access(int operand) const { return accesses[size_t(operand)]; }
  AccessState& access(int operand) { return accesses[size_t(operand)]; }
};

}  // namespace spdistal::lower
