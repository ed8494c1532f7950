// The distributed program of one statement: what each colour needs of every access, what it computes, and how results go
// home. Symbolic: it holds for all data, and is bound to some by whoever runs it.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/node.hpp"
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
struct Affine {
  std::string bounds;  // of the coordinates for given loops: "[io * 25, io * 25 + 25)"
};
/// { offset + stride * v : v ∈ set }.
struct Gather {
  Set set;
  int64_t offset = 0, stride = 1;  // of the window through which the access sees the variable
};
struct Positions {};  // from the stored positions that the colour has of the same access
struct Replicate {};  // all of them
using Projection = std::variant<Affine, Gather, Positions, Replicate>;

enum class Privilege : uint8_t { Read, Write, Reduce };

/// Positions of a level that are dealt out.
struct SplitLevel {
  size_t level;
  std::string bounds;
};

struct AccessPlan {
  std::string text;                    // "B(i,j)"
  std::string tensor;                  // "B"
  std::vector<size_t> dims;            // the dimension that each level stores
  std::vector<bool> lists;             // does a level have pos and crd?
  std::vector<std::string> variables;  // of each dimension
  std::vector<Projection> projections = {};
  std::optional<SplitLevel> split = {};
  Privilege privilege = Privilege::Read;
  size_t depth = 0;  // it is fetched inside so many of the loops
  Fragment partitions = {};
};

struct Loop {
  enum class Kind : uint8_t { Distributed, Step } kind;
  std::string var, size;
};

struct Plan {
  std::vector<Loop> loops;           // outermost first
  std::vector<AccessPlan> accesses;  // the result first
  std::vector<size_t> fetch_order;   // of the operands: gathers after what they gather by
  std::string leaf;                  // the loops inside, as text
};

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

/// "plan", then one paragraph for each access, then the loops and the leaf. What is numbered depends on the leaf's kernel.
std::string print(const Plan& plan, const std::vector<NumberedGroup>& numbered = {});
/// What the README promises; the refusal says what is broken.
Result<> verify(const Plan& plan);

}  // namespace spdistal::plan
