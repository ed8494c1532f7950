#include "execute/move/device_moves.hpp"

#include <map>
#include <utility>

#include "ir/build.hpp"
#include "passes/launches.hpp"
#include "process/process.hpp"

namespace spdistal {

using runtime::PlacesOn;
using runtime::ReduceOp;

namespace {

enum class MoveKind : uint8_t { Gather, Scatter, Combine };

// Of truth values, a sum or the greatest is whether any holds, a product or the least whether all do.
ir::BinaryOp operation(ReduceOp op, ScalarType type) {
  bool any = op == ReduceOp::Sum || op == ReduceOp::Max;
  if (type == ScalarType::Bool) return any ? ir::BinaryOp::Or : ir::BinaryOp::And;
  switch (op) {
    case ReduceOp::Sum: return ir::BinaryOp::Add;
    case ReduceOp::Product: return ir::BinaryOp::Mul;
    case ReduceOp::Min: return ir::BinaryOp::Min;
    default: return ir::BinaryOp::Max;
  }
}

struct MoveShape {
  MoveKind move;
  ScalarType type;
  bool narrow;
  ReduceOp op;
  auto operator<=>(const MoveShape&) const = default;
};

// array[place k] and packed[k], for every k at once: no place comes twice.
ir::Function function_of(const MoveShape& kind) {
  bool gathers = kind.move == MoveKind::Gather;
  ir::FunctionBuilder f(gathers ? "gather" : kind.move == MoveKind::Scatter ? "scatter" : "combine");
  ir::Var array = f.array("array", 0, kind.type, gathers ? ir::Access::Read : ir::Access::Write);
  ir::Var places = f.array("places", 1, kind.narrow ? ScalarType::Int32 : ScalarType::Int64);
  ir::Var packed = f.array("packed", 2, kind.type, gathers ? ir::Access::Write : ir::Access::Read);
  f.parallel("k", f.scalar("count", 0), [&](const ir::Var& k) {
    ir::Var place = f.constant("place", ir::wide(ir::load(places, k)));
    if (gathers) return f.store(packed, k, ir::load(array, place));
    ir::Expr value = ir::load(packed, k);
    if (kind.move == MoveKind::Combine)
      value = ir::binary(operation(kind.op, kind.type), ir::load(array, place), value);
    f.store(array, place, value);
  });
  return f.build();
}

class GeneratedMoves final : public runtime::DeviceMoves {
 public:
  explicit GeneratedMoves(Process& process) : process_(process) {}

  void gather(const PlacesOn& from, Buffer& to) override {
    to.mirror().to_overwrite(from.device);
    run({MoveKind::Gather, from.type, from.narrow, ReduceOp::Sum}, from, to);
  }
  void scatter(const Buffer& from, const PlacesOn& to) override {
    run({MoveKind::Scatter, to.type, to.narrow, ReduceOp::Sum}, to, from);
  }
  void combine(const Buffer& from, const PlacesOn& to, ReduceOp op) override {
    run({MoveKind::Combine, to.type, to.narrow, op}, to, from);
  }

 private:
  void run(const MoveShape& kind, const PlacesOn& on, const Buffer& packed) {
    spd_array arrays[] = {array_of(on.array, int64_t(on.array.bytes() / size_of(on.type))),
                          array_of(on.places.mirror(), on.count), array_of(packed.mirror(), on.count)};
    spd_call call{&process_.context, nullptr, arrays, &on.count, nullptr};
    kernel(kind, on.device)(call);
  }
  // Arrays are found through their mirrors.
  static spd_array array_of(memory::Mirror& mirror, int64_t count) { return {nullptr, count, &mirror}; }

  const codegen::Kernel& kernel(const MoveShape& kind, memory::Place device) {
    auto known = kernels_.find({kind, device});
    if (known != kernels_.end()) return known->second;
    codegen::Kernel made = process_.gpu(device).load(passes::launches(function_of(kind)));
    return kernels_.emplace(std::pair(kind, device), std::move(made)).first->second;
  }

  Process& process_;
  std::map<std::pair<MoveShape, memory::Place>, codegen::Kernel> kernels_;
};

}  // namespace

runtime::DeviceMoves& moves_of(Process& process) {
  if (!process.moves) process.moves = std::make_unique<GeneratedMoves>(process);
  return *process.moves;
}

}  // namespace spdistal
