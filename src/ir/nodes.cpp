#include "ir/nodes.hpp"

#include "ir/math.hpp"

namespace spdistal::ir {

Type type_of(const Expr& e) {
  return match(
      e, [](const Var& n) { return n.type; }, [](const Literal& n) { return value_of(n.value.type()); },
      [](const Unary& n) { return type_of(n.a); },
      [](const Binary& n) {
        Type type = type_of(n.a);
        if (n.op >= BinaryOp::Lt && n.op <= BinaryOp::Ne) type.scalar = ScalarType::Bool;
        return type;
      },
      [](const Select& n) { return type_of(n.yes); },
      [](const Load& n) {
        return Type{n.array.type.scalar, Type::Form::Value, n.lanes};
      },
      [](const Cast& n) {
        return Type{n.type, Type::Form::Value, type_of(n.value).lanes};
      },
      [](const Call& n) {
        Type type = type_of(n.args.at(0));
        type.scalar = result_type(n.function, type.scalar);
        return type;
      },
      [](const Search& n) { return type_of(n.lo); },
      [](const Broadcast& n) {
        return Type{type_of(n.value).scalar, Type::Form::Value, n.lanes};
      },
      [](const Shuffle& n) { return type_of(n.value); }, [](const WarpReduce& n) { return type_of(n.value); },
      [](const WarpScan& n) { return type_of(n.value); },
      [](const WarpVote& n) { return n.vote == Vote::Count ? Int32 : Bool; });
}

}  // namespace spdistal::ir

namespace spdistal {

SPDISTAL_FAMILY(ir::ExprKinds)
SPDISTAL_FAMILY(ir::StmtKinds)

}  // namespace spdistal
