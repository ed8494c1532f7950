// The kernel functions of every level of the registry: what is emitted finds and walks what the level's own functions
// find and walk in memory.
#include <gtest/gtest.h>

#include "ir/interpret.hpp"
#include "ir/verify.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "tensor/pack.hpp"
#include "unit/ir/call_data.hpp"
#include "unit/tensor/random_tensors.hpp"

namespace spdistal {
namespace {

using ir::Expr;
using ir::Var;
using testing::CallData;

spd_array view(const IndexArray& array) { return {const_cast<void*>(array.data()), array.size(), nullptr}; }

ScalarType type_of(const IndexArray& array) {
  if (array.width() == IndexWidth::Flag) return ScalarType::Bool;
  return array.width() == IndexWidth::Int32 ? ScalarType::Int32 : ScalarType::Int64;
}

/// One function over the last level of a matrix that writes numbers into an array.
class LastLevel final : KernelParams {
 public:
  LastLevel(const Storage& storage)
      : functions(kernel_functions(storage.format().levels()[1])),
        arrays(storage.pattern().level(1)),
        parents(storage.pattern().level(0).positions),
        level_{*this, 0, 1, "B2"} {}

  using Fill = std::function<void(ir::Body& body, const KernelLevel& level, const Var& out)>;
  std::vector<int64_t> run(int64_t size, const Fill& fill) {
    Var out = f_.array("out", 0, ScalarType::Int64, ir::Access::Write);
    fill(f_, level_, out);
    ir::Function function = f_.build();
    EXPECT_TRUE(ir::verify(function));
    std::vector<int64_t> result(size_t(size), -7);
    spd_level levels[2] = {};
    levels[1].extent = levels[1].stride = arrays.range.size();
    for (size_t n = 0; n < arrays.arrays.size(); n++) levels[1].arrays[n] = view(arrays.arrays[n].array);
    spd_tensor tensor{levels, {}};
    spd_array results = CallData::view(result);
    CallData context;
    spd_call call{context.get().context, &tensor, &results, nullptr, nullptr};
    ir::interpret(function, call);
    return result;
  }

  const KernelFunctions& functions;
  const LevelArrays& arrays;
  int64_t parents;

 private:
  ir::Body& body() override { return f_; }
  Var array(int, size_t, std::string_view name) override {
    auto known = params_.find(name);
    if (known != params_.end()) return known->second;
    auto found = std::find_if(arrays.arrays.begin(), arrays.arrays.end(),
                              [&](const NamedArray& array) { return array.name == name; });
    std::string text(name);
    ir::Source source{ir::Source::Field::Level, 0, 1, int(found - arrays.arrays.begin()), text};
    return params_.emplace(text, f_.level_array(text, source, type_of(found->array))).first->second;
  }
  Expr first_coordinate(int, size_t) override { return ir::int64(0); }
  Expr stride(int, size_t) override { return ir::int64(arrays.range.size()); }

  ir::FunctionBuilder f_{"f"};
  std::map<std::string, Var, std::less<>> params_;
  KernelLevel level_;
};

constexpr int64_t rows = 4, columns = 9;

/// Matrices in every format of two levels.
void for_each_matrix(const std::function<void(const Storage&)>& f) {
  Random random(20);
  for (const std::vector<LevelFormat>& stack : all_stacks(2))
    for (int64_t count : {0, 1, 5, 20}) {
      Coordinates entries({rows, columns}, ScalarType::Float64);
      for (int64_t n = 0; n < count; n++)
        entries.add({int64_t(random() % rows), int64_t(random() % columns)}, double(n));
      Format format(stack);
      SCOPED_TRACE(format.str() + " with " + std::to_string(count) + " entries");
      f(pack(std::move(entries), format));
    }
}

TEST(KernelFunctions, FindWhereACoordinateIs) {
  for_each_matrix([](const Storage& storage) {
    LastLevel last(storage);
    const LevelFunctions& in_memory = functions_of(storage.format().levels()[1]);
    std::vector<int64_t> expected(size_t(last.parents * columns), -1);
    for (int64_t parent = 0; parent < last.parents; parent++)
      for (int64_t c = 0; c < columns; c++)
        in_memory.locate(last.arrays, {parent, parent + 1}, c,
                         [&](Range at) { expected[size_t(parent * columns + c)] = at.lo; });
    auto found = last.run(last.parents * columns, [&](ir::Body& body, const KernelLevel& level, const Var& out) {
      body.loop("parent", ir::int64(0), last.parents, [&](const Var& parent) {
        body.loop("c", ir::int64(0), columns, [&](const Var& c) {
          Expr at = Expr(parent) * columns + c;
          if (!last.functions.locate) return body.store(out, at, last.functions.place(level, parent, c));
          Located located = last.functions.locate(level, Above{parent}, c);
          body.store(out, at, ir::select(located.stored, located.position, ir::int64(-1)));
        });
      });
    });
    EXPECT_EQ(found, expected);
  });
}

TEST(KernelFunctions, WalkTheCoordinatesBelowEachPosition) {
  for_each_matrix([](const Storage& storage) {
    LastLevel last(storage);
    int64_t positions = last.arrays.positions;
    Array<int64_t> coordinate(positions), parent_of(positions);
    functions_of(storage.format().levels()[1]).expand(last.arrays, last.parents, coordinate, parent_of);
    std::vector<int64_t> expected;
    for (int64_t p = 0; p < positions; p++) expected.push_back(parent_of[p] * columns + coordinate[p]);
    auto walked = last.run(positions, [&](ir::Body& body, const KernelLevel& level, const Var& out) {
      body.loop("parent", ir::int64(0), last.parents, [&](const Var& parent) {
        Segment below = children_of(last.functions, level, Segment{parent, Expr(parent) + 1});
        body.loop("p", below.begin, below.end, [&](const Var& p) {
          Expr c = last.functions.coordinate_below ? last.functions.coordinate_below(level, parent, p)
                                                   : last.functions.coordinate(level, p);
          body.store(out, p, Expr(parent) * columns + c);
        });
      });
    });
    EXPECT_EQ(walked, expected);
  });
}

TEST(KernelFunctions, TellWhereSomethingIsStored) {
  for_each_matrix([](const Storage& storage) {
    LastLevel last(storage);
    if (!last.functions.stored) return;
    const LevelFunctions& in_memory = functions_of(storage.format().levels()[1]);
    std::vector<int64_t> expected;
    for (int64_t p = 0; p < last.arrays.positions; p++) expected.push_back(in_memory.stored(last.arrays, p));
    auto found = last.run(last.arrays.positions, [&](ir::Body& body, const KernelLevel& level, const Var& out) {
      body.loop("p", ir::int64(0), last.arrays.positions, [&](const Var& p) {
        body.store(out, p, ir::select(last.functions.stored(level, p), ir::int64(1), ir::int64(0)));
      });
    });
    EXPECT_EQ(found, expected);
  });
}

TEST(KernelFunctions, SeekTheFirstPositionAtOrAfterACoordinate) {
  for_each_matrix([](const Storage& storage) {
    LastLevel last(storage);
    if (!last.functions.seek) return;
    const LevelFunctions& in_memory = functions_of(storage.format().levels()[1]);
    std::vector<int64_t> expected;
    for (int64_t parent = 0; parent < last.parents; parent++)
      for (int64_t c = 0; c < columns; c++) {
        Range below = in_memory.children(last.arrays, parent);
        while (below.lo < below.hi && in_memory.coordinate(last.arrays, below.lo) < c) below.lo++;
        expected.push_back(below.lo);
      }
    auto found = last.run(last.parents * columns, [&](ir::Body& body, const KernelLevel& level, const Var& out) {
      body.loop("parent", ir::int64(0), last.parents, [&](const Var& parent) {
        Segment below = children_of(last.functions, level, Segment{parent, Expr(parent) + 1});
        body.loop("c", ir::int64(0), columns, [&](const Var& c) {
          body.store(out, Expr(parent) * columns + c, last.functions.seek(level, Above{parent}, below, c));
        });
      });
    });
    EXPECT_EQ(found, expected);
  });
}

TEST(KernelFunctions, SayTheSameInEveryWay) {
  for (const LevelFormat& level : all_levels()) {
    const KernelFunctions& f = kernel_functions(level);
    SCOPED_TRACE(level.name());
    EXPECT_NE(stores_all(f), f.locate != nullptr) << "a coordinate is stored, or looked for";
    EXPECT_TRUE(!f.stored || f.place) << "what is not stored has a place";
    EXPECT_EQ(f.stored != nullptr, functions_of(level).stored != nullptr) << "in kernels as in memory";
    EXPECT_EQ(f.place != nullptr, level.properties().placed);
    EXPECT_EQ(f.place != nullptr, f.per_parent != nullptr) << "places are as many below every parent";
    EXPECT_TRUE(f.coordinate || f.coordinate_below) << "positions have coordinates";
    EXPECT_TRUE(!f.first || f.per_parent || f.weight) << "the parent of a position can be found";
    EXPECT_EQ(f.append != nullptr, f.appended != nullptr);
    EXPECT_TRUE(!f.append || f.weight) << "what is appended begins somewhere";
  }
}

}  // namespace
}  // namespace spdistal
