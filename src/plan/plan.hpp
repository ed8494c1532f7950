// The distributed program of one statement, as data: what each colour needs of every access, what moves, what is launched with
// which rights, and how results go home. Symbolic: bounds are what the relations of the schedule leave of variables, and hold
// for all data. Whoever runs it walks its actions, in order, and does nothing else.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/node.hpp"
#include "notation/concrete.hpp"
#include "plan/partition.hpp"
#include "spdistal/result.hpp"

namespace spdistal::plan {

struct SetKinds;
/// A set of values of one variable, for each colour.
using Set = Handle<SetKinds>;

/// All values.
struct Everything {
  static constexpr auto fields = std::tuple{};
};
/// Those whose coordinates occur in a level of the piece of an access, the image of its crd by value:
/// { v : offset + stride * v ∈ crd }.
struct Occurring {
  size_t access, level;
  int64_t offset = 0, stride = 1;  // of the window through which the access sees the variable
  static constexpr auto fields =
      std::tuple{&Occurring::access, &Occurring::level, &Occurring::offset, &Occurring::stride};
};
struct Both {
  Set a, b;
  static constexpr auto fields = std::tuple{&Both::a, &Both::b};
};
struct Either {
  Set a, b;
  static constexpr auto fields = std::tuple{&Either::a, &Either::b};
};
struct SetKinds : Kinds<Everything, Occurring, Both, Either> {};

/// Simplified on the way: everything is neutral in a ∩ b and takes a ∪ b over.
Set both(const Set& a, const Set& b);
Set either(const Set& a, const Set& b);
/// The accesses whose pieces must be there to know the set.
std::vector<size_t> sources(const Set& set);

/// How the coordinates that a colour needs along one dimension of an access are known.
struct Affine {};  // what the relations leave of the dimension's variable: { i = io * 25 + ii < 100 }
/// { offset + stride * v : v ∈ set }.
struct Gather {
  Set set;
  int64_t offset = 0, stride = 1;  // of the window through which the access sees the variable
};
struct Positions {};  // from the stored positions that the colour has of the same access
struct Replicate {};  // all of them
using Projection = std::variant<Affine, Gather, Positions, Replicate>;

enum class Privilege : uint8_t { Read, Write, Reduce };

/// Stored positions that loops deal out: what the relations leave of the variable that counts the positions of the levels. Those
/// of dense levels at the end follow from the positions of the level above, `level`, of which there are as many for each.
struct PositionSplit {
  IndexVar position;
  notation::Levels levels;
  size_t level;
};

struct AccessPlan {
  std::string text, tensor;  // what it and its tensor are called: "B(i,j)", "B"
  notation::Access access;
  std::vector<IndexVar> loops;  // whose values are known when its piece is fetched, or its result goes home
  std::vector<size_t> dims;     // the dimension that each level stores
  std::vector<bool> lists;      // does a level have pos and crd?
  std::vector<Projection> projections = {};
  std::optional<PositionSplit> split = {};
  /// Of each dimension: the level of a split access whose stored coordinates are all that loops come to.
  std::vector<std::optional<Occurring>> by_position = {};
  Privilege privilege = Privilege::Read;
  Fragment partitions = {};
};

struct Loop {
  enum class Kind : uint8_t { Distributed, Step } kind;
  IndexVar var;
};

struct ActionKinds;
using Action = Handle<ActionKinds>;

/// Tells what each colour has of an access: its partition statements.
struct MakePartition {
  size_t access;
  static constexpr auto fields = std::tuple{&MakePartition::access};
};
/// Brings pieces of an operand from where it lives to the colours that read them.
struct FetchPieces {
  size_t access;
  static constexpr auto fields = std::tuple{&FetchPieces::access};
};
/// Runs the leaf for each colour, which has the values of all distributed loops.
struct LaunchLeaf {
  static constexpr auto fields = std::tuple{};
};
/// Takes what colours computed of the result to where it lives.
struct TakeHome {
  static constexpr auto fields = std::tuple{};
};
/// ForActions for each value of a loop, one after the other, by all colours together.
struct ForSteps {
  size_t loop;
  std::vector<Action> actions;
  static constexpr auto fields = std::tuple{&ForSteps::loop, &ForSteps::actions};
};
struct ActionKinds : Kinds<MakePartition, FetchPieces, LaunchLeaf, TakeHome, ForSteps> {};

struct Plan {
  std::vector<Loop> loops;           // outermost first
  notation::ConcreteStatement leaf;  // the statement without them
  notation::Provenance bounds;       // what the loops leave of variables follows from these relations
  std::vector<AccessPlan> accesses;  // the result first
  std::vector<Action> actions = {};

  /// Operands in the order in which they are brought: gathers after what they gather by.
  std::vector<size_t> operands() const;
};

/// The actions of a plan that has all else: partitions and fetches in this order of the operands, as far out as the loops
/// allow that they depend on, and one launch.
std::vector<Action> actions_of(const Plan& plan, const std::vector<size_t>& operands);

struct LevelOfAccess {
  size_t access, level;
  auto operator<=>(const LevelOfAccess&) const = default;
};
/// Levels of accesses whose coordinates are numbered alike: those that store them, and those of dense operands that are found by
/// them. In order.
struct NumberedGroup {
  std::vector<LevelOfAccess> stored, located;
  bool operator==(const NumberedGroup&) const = default;
};

/// What a fetch comes to for the data that a plan is bound to, on all ranks: what is more stands later.
enum class Travels : uint8_t { Nothing, Ghosts, Values, Arrays };
/// What a homecoming comes to.
enum class Returns : uint8_t {
  InPlace,   // dense: computed at home
  Assigned,  // dense: every element by one colour
  AddedUp,   // dense: by owners, in the order of colours
  Kept,      // each rank has all of it
  Stays,     // sparse: the pieces are those of its home
  Joined,    // sparse: likewise, but for elements that are cut between colours
  Merged,    // sparse: by coordinate, at home
};
/// How what is gathered is found by what others store, on all ranks: what takes more stands later.
enum class FoundBy : uint8_t {
  Coordinates,  // all of it is at home, or a piece of its own has places for a range around it
  Around,       // ghosts lie around the home piece, each where its coordinate is
  Numbers,      // coordinates are stored once more as numbers
};
/// What is known of a plan once it is bound to data.
struct PlanFacts {
  std::vector<NumberedGroup> numbered = {};
  std::vector<FoundBy> found_by = {};                // by group
  std::vector<std::optional<Travels>> travels = {};  // by access; none of those that are brought step by step
  std::optional<Returns> returns = {};
};

/// "plan", then its actions.
std::string print(const Plan& plan, const PlanFacts& facts = {});
/// What the README promises; the refusal says what is broken.
Result<> verify(const Plan& plan);

}  // namespace spdistal::plan
