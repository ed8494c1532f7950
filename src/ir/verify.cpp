#include "ir/verify.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.hpp"
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/math.hpp"
#include "ir/print.hpp"

namespace spdistal::ir {
namespace {

/// Thrown to leave the walk at the first refusal; never leaves this file.
struct Refused {
  std::string message, text;
};

bool is_array_field(Source::Field f) { return f >= Source::Field::Segments && f <= Source::Field::Array; }

class Verifier {
 public:
  void function(const Function& f) {
    check(is_identifier(f.name), f.body, "a function's name is an identifier, unlike '{}'", f.name);
    for (const Param& p : f.params) {
      check(p.source.index >= 0 && p.source.level >= 0, p.var, "parameter '{}' comes from somewhere",
            p.var.symbol.name());
      if (is_array_field(p.source.field))
        check(p.var.type.is_array(), p.var, "a parameter from {} is an array", name_of(p.source));
      else if (p.source.field == Source::Field::Argument)
        check(p.var.type == value_of(p.var.type.scalar), p.var, "an argument is one number");
      else
        check(p.var.type == Int64 || p.var.type == Int32, p.var, "a parameter from {} is a whole number",
              name_of(p.source));
      declare(p.var, Mutability::Const, p.var);
      if (p.var.type.form == Type::Form::Array) results_.insert(p.var.symbol);
    }
    stmt(f.body);
  }

 private:
  template <class Where, class... A>
  void check(bool holds, const Where& where, fmt::format_string<A...> message, A&&... args) {
    if (holds) return;
    std::string text;
    if constexpr (std::is_same_v<Where, Stmt>) text = print(where);
    else text = print(Expr(where));
    throw Refused{fmt::format(message, std::forward<A>(args)...), std::string(trim(text))};
  }

  struct Known {
    Type type;
    Mutability mutability;
    int parallel_depth;
    bool in_part;  // declared in a part that is defined
  };

  template <class Where>
  void declare(const Var& v, Mutability m, const Where& where) {
    check(!known_.contains(v.symbol), where, "'{}' is declared once", v.symbol.name());
    known_.emplace(v.symbol, Known{v.type, m, parallel_depth_, in_part_});
    scope_.push_back(v.symbol);
  }
  template <class F>
  void in_scope(F&& f) {
    size_t mark = scope_.size();
    f();
    for (; scope_.size() > mark; scope_.pop_back()) known_.erase(scope_.back());
  }

  template <class Where>
  void use(const Var& v, const Where& where) {
    auto it = known_.find(v.symbol);
    check(it != known_.end(), where, "'{}' is declared before it is used", v.symbol.name());
    check(it->second.type == v.type, where, "'{}' is used with the type it was declared with", v.symbol.name());
  }
  template <class Where>
  void array(const Var& v, const Where& where) {
    use(v, where);
    check(v.type.is_array(), where, "'{}' is an array", v.symbol.name());
  }
  template <class Where>
  void written_array(const Var& v, const Where& where) {
    array(v, where);
    check(v.type.form == Type::Form::Array, where, "'{}' may be written", v.symbol.name());
    check(!in_part_ || known_.at(v.symbol).in_part, where, "'{}' is none of the places of the part", v.symbol.name());
  }

  Type value(const Expr& e) {
    Type type = expr(e);
    check(!type.is_array(), e, "an operand is a value, not an array");
    return type;
  }
  Type index(const Expr& e) {
    Type type = value(e);
    check(type == Int32 || type == Int64, e, "an index is an int32 or int64, not {}", name_of(type));
    return type;
  }
  void condition(const Expr& e) {
    Type type = value(e);
    check(type == Bool, e, "a condition is a bool, not {}", name_of(type));
  }
  void same(const Type& a, const Type& b, const Expr& e) {
    check(a == b, e, "operands have one type, not {} and {}", name_of(a), name_of(b));
  }

  /// The type of an expression, all of it checked.
  Type expr(const Expr& e) {
    match(
        e, [&](const Var& n) { use(n, e); }, [](const Literal&) {},
        [&](const Unary& n) {
          Type type = value(n.a);
          check((type.scalar == ScalarType::Bool) == (n.op == UnaryOp::Not), e, "Not is for bool and Neg for numbers");
        },
        [&](const Binary& n) { binary(n, e); },
        [&](const Select& n) {
          condition(n.cond);
          perhaps([&] { same(value(n.yes), value(n.no), e); });
        },
        [&](const Load& n) {
          array(n.array, e);
          index(n.index);
          check(n.lanes >= 1, e, "a load has at least one lane");
        },
        [&](const Cast& n) {
          Type from = value(n.value);
          check(!is_complex(from.scalar) || is_complex(n.type), e, "complex numbers are not converted to real ones");
        },
        [&](const Call& n) {
          const MathInfo& i = info(n.function);
          check(int(n.args.size()) == i.arity, e, "{} has {} arguments", i.name, i.arity);
          Type type = value(n.args[0]);
          for (const Expr& a : n.args) same(type, value(a), e);
          check(exists_for(n.function, type.scalar) && type.lanes == 1, e, "{} exists for {}", i.name, name_of(type));
        },
        [&](const Search& n) {
          array(n.array, e);
          same(index(n.lo), index(n.hi), e);
          Type sought = value(n.value);
          bool integers = is_integral(sought.scalar) && is_integral(n.array.type.scalar);
          check(sought.lanes == 1 && (integers || sought == n.array.type.element()), e,
                "what is searched for can be compared with what is there");
        },
        [&](const Broadcast& n) {
          check(value(n.value).lanes == 1 && n.lanes > 1, e, "a broadcast makes lanes of one");
        },
        [&](const Shuffle& n) {
          of_warp(n.value, n.width, e);
          index(n.by);
        },
        [&](const WarpReduce& n) { combined(n.op, n.value, n.width, e); },
        [&](const WarpScan& n) { combined(n.op, n.value, n.width, e); },
        [&](const WarpVote& n) {
          condition(n.cond);
          by_all_lanes(e);
        });
    return type_of(e);
  }

  void by_all_lanes(const Expr& e) {
    check(gpu_thread_, e, "warps compute together inside of GPU threads");
    check(!perhaps_, e, "all lanes of a warp come to what they compute together");
  }
  void of_warp(const Expr& operand, int width, const Expr& e) {
    Type type = value(operand);
    check(type.lanes == 1 && type.scalar != ScalarType::Bool && !is_complex(type.scalar), e,
          "lanes exchange real numbers, not {}", name_of(type));
    check(width >= 2 && width <= warp_size && (width & (width - 1)) == 0, e, "groups have 2, 4, 8, 16 or 32 lanes");
    by_all_lanes(e);
  }
  void combined(BinaryOp op, const Expr& operand, int width, const Expr& e) {
    of_warp(operand, width, e);
    check(op == BinaryOp::Add || op == BinaryOp::Min || op == BinaryOp::Max, e, "warps add, or take extremes");
  }
  /// Of operands that are evaluated only where they are needed.
  template <class F>
  void perhaps(F&& f) {
    perhaps_++;
    f();
    perhaps_--;
  }

  void binary(const Binary& n, const Expr& e) {
    Type a = value(n.a), b;
    if (n.op == BinaryOp::And || n.op == BinaryOp::Or) perhaps([&] { b = value(n.b); });
    else b = value(n.b);
    same(a, b, e);
    check(a.lanes == 1 || n.op <= BinaryOp::Max, e, "vectors have arithmetic alone");
    bool boolean = a.scalar == ScalarType::Bool;
    switch (n.op) {
      case BinaryOp::And:
      case BinaryOp::Or: check(boolean, e, "And and Or are for bool"); break;
      case BinaryOp::Eq:
      case BinaryOp::Ne: break;
      case BinaryOp::Mod: check(!boolean && is_integral(a.scalar), e, "Mod is for integers"); break;
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::Mul:
      case BinaryOp::Div: check(!boolean, e, "arithmetic is for numbers"); break;
      default: check(!boolean && !is_complex(a.scalar), e, "order is for real numbers");
    }
  }

  void stmt(const Stmt& s) {
    match(
        s,
        [&](const Declare& n) {
          check(!n.var.type.is_array(), s, "arrays are allocated, not declared");
          same(value(n.init), n.var.type, n.init);
          declare(n.var, n.mutability, s);
        },
        [&](const Assign& n) {
          use(n.var, s);
          const Known& known = known_.at(n.var.symbol);
          check(known.mutability == Mutability::Mutable, s, "'{}' is mutable", n.var.symbol.name());
          check(known.parallel_depth == parallel_depth_, s, "'{}' is shared by threads", n.var.symbol.name());
          check(!in_part_ || known.in_part, s, "'{}' is none of the places of the part", n.var.symbol.name());
          same(value(n.value), n.var.type, n.value);
        },
        [&](const Store& n) {
          written_array(n.array, s);
          index(n.index);
          Type type = value(n.value);
          check(type.scalar == n.array.type.scalar, s, "an element is stored as {}, not {}",
                name_of(n.array.type.element()), name_of(type));
          bool truth = type.scalar == ScalarType::Bool, complex = is_complex(type.scalar);
          bool logical = n.mode == StoreMode::AtomicOr || n.mode == StoreMode::AtomicAnd;
          check(!adds(n.mode) || !truth, s, "numbers are added, not bools");
          check(!is_atomic(n.mode) || truth == logical, s,
                "bools have an atomic or and an atomic and, and nothing else has");
          check(!is_atomic(n.mode) || !complex || adds(n.mode), s, "complex numbers are added atomically, and no more");
          check(n.mode != StoreMode::Stream || (type.lanes > 1 && results_.contains(n.array.symbol)), s,
                "vectors are streamed, to results");
          check(!is_atomic(n.mode) || (type.lanes == 1 && (parallel_depth_ || gpu_thread_)), s,
                "atomic stores stand inside Parallel or GPU threads");
        },
        [&](const Prefetch& n) {
          array(n.array, s);
          index(n.index);
        },
        [&](const For& n) { loop(n, s); },
        [&](const While& n) {
          condition(n.cond);
          loops_++;
          in_scope([&] { stmt(n.body); });
          loops_--;
        },
        [&](const If& n) {
          condition(n.cond);
          branches_++;
          in_scope([&] { stmt(n.then); });
          if (n.otherwise) in_scope([&] { stmt(*n.otherwise); });
          branches_--;
        },
        [&](const Block& n) {
          in_scope([&] {
            for (const Stmt& inner : n.stmts) stmt(inner);
          });
        },
        [](const Comment&) {},
        [&](const Allocate& n) {
          check(n.array.type.form == Type::Form::Array, s, "'{}' is an array", n.array.symbol.name());
          index(n.count);
          check(n.space == MemorySpace::Private || constant_integer(n.count), s, "shared arrays have a constant size");
          check(n.space == MemorySpace::Private || n.fill == Fill::Uninitialised, s,
                "shared arrays are not initialised");
          check(n.space == MemorySpace::Private || gpu_block_, s, "the threads of a GPU block share arrays");
          declare(n.array, Mutability::Const, s);
        },
        [&](const Sort& n) {
          written_array(n.array, s);
          check(n.array.type.scalar == ScalarType::Int32 || n.array.type.scalar == ScalarType::Int64, s,
                "integers are sorted");
          check(n.lanes == 1 || (n.lanes == warp_size && gpu_thread_), s, "one thread sorts, or a warp of a GPU");
          same(index(n.lo), index(n.hi), n.lo);
        },
        [&](const Break&) { check(loops_ > 0, s, "Break stands in a loop that is no vector"); },
        [&](const Return& n) {
          check(n.code != 0, s, "a function returns 0 at its end only");
          check(loops_ == 0 && parallel_depth_ == 0 && !vector_ && !gpu_thread_ && !in_part_, s,
                "Return stands outside of loops and of Parallel");
        },
        [&](const Parallel& n) {
          check(parallel_depth_ == 0 && !vector_ && !gpu_thread_ && !in_part_, s, "Parallel does not nest");
          Type type = index(n.count);
          check(n.share.type == type, s, "a thread's number has the type of their count");
          int outer_loops = std::exchange(loops_, 0);
          parallel_depth_++;
          in_scope([&] {
            for (const Stmt& own : n.setup) {
              check(own.is<Allocate>(), own, "each thread for itself allocates, and does nothing else");
              stmt(own);
            }
            declare(n.share, Mutability::Const, s);
            stmt(n.body);
          });
          parallel_depth_--;
          loops_ = outer_loops;
        },
        [&](const Resize& n) { room(n.array, n.count, s); }, [&](const Shrink& n) { room(n.array, n.count, s); },
        [&](const Append& n) {
          written_array(n.to, s);
          array(n.from, s);
          check(results_.contains(n.to.symbol), s, "'{}' is a result", n.to.symbol.name());
          check(parallel_depth_ == 1 && loops_ == 0 && !vector_, s, "Append stands in Parallel, outside of loops");
          check(known_.at(n.from.symbol).parallel_depth == 1 && n.from.type == n.to.type, s,
                "a share appends what it has allocated, of the type of the result");
          same(index(n.share), index(n.shares), n.share);
          index(n.count);
        },
        [&](const Define& n) { define(n, s); }, [&](const Perform& n) { perform(n, s); },
        [&](const Barrier&) { check(gpu_thread_, s, "a barrier stands inside of GPU threads"); },
        [&](const Claim& n) {
          check(gpu_thread_, s, "threads of a GPU claim elements");
          written_array(n.array, s);
          check(n.array.type.scalar == ScalarType::Int32 || n.array.type.scalar == ScalarType::Int64, s,
                "integers are claimed");
          index(n.index);
          same(value(n.value), n.array.type.element(), n.value);
          use(n.found, s);
          check(known_.at(n.found.symbol).mutability == Mutability::Mutable, s, "'{}' is mutable",
                n.found.symbol.name());
          same(n.found.type, n.array.type.element(), n.value);
        });
  }

  void define(const Define& n, const Stmt& s) {
    check(branches_ == 0 && loops_ == 0 && parallel_depth_ == 0 && !vector_ && !gpu_block_ && !in_part_, s,
          "a part is defined outside of loops, branches and Parallel");
    check(parts_.emplace(n.name, n).second, s, "'{}' is defined once", n.name.name());
    in_part_ = true;
    in_scope([&] {
      for (const Var& v : n.values) {
        check(!v.type.is_array(), s, "'{}' is a value", v.symbol.name());
        declare(v, Mutability::Const, s);
      }
      for (const Var& v : n.places) {
        check(v.type.form != Type::Form::ConstArray, s, "'{}' is changed", v.symbol.name());
        declare(v, v.type.is_array() ? Mutability::Const : Mutability::Mutable, s);
      }
      stmt(n.body);
    });
    in_part_ = false;
  }

  void perform(const Perform& n, const Stmt& s) {
    auto part = parts_.find(n.name);
    check(part != parts_.end() && !in_part_, s, "'{}' is defined before it is performed", n.name.name());
    check(part->second.values.size() == n.values.size() && part->second.places.size() == n.places.size(), s,
          "'{}' has as many values and places as it was defined with", n.name.name());
    for (size_t k = 0; k < n.values.size(); k++) {
      Type type = value(n.values[k]);
      same(type, part->second.values[k].type, n.values[k]);
      check(type != Bool || constant(n.values[k]), s, "a bool that a part is performed with is a literal");
    }
    std::set<Symbol> different;
    for (size_t k = 0; k < n.places.size(); k++) {
      const Var& place = n.places[k];
      use(place, s);
      const Known& known = known_.at(place.symbol);
      bool own = known.mutability == Mutability::Mutable && known.parallel_depth == parallel_depth_;
      check(place.type == part->second.places[k].type && (place.type.is_array() || own), s, "'{}' is a place for '{}'",
            place.symbol.name(), part->second.places[k].symbol.name());
      check(different.insert(place.symbol).second, s, "'{}' is one place, not two", place.symbol.name());
    }
  }

  void room(const Var& array, const Expr& count, const Stmt& s) {
    written_array(array, s);
    index(count);
    check(results_.contains(array.symbol), s, "'{}' is a result that can grow", array.symbol.name());
    check(parallel_depth_ == 0 && !vector_ && !in_part_, s, "{} stands outside of Parallel and vector loops",
          s.is<Resize>() ? "Resize" : "Shrink");
  }

  void loop(const For& n, const Stmt& s) {
    Type type = index(n.lo);
    check(index(n.hi) == type && index(n.step) == type && n.var.type == type, s,
          "a loop's bounds have its variable's type");
    auto step = constant_integer(n.step);
    check(!step || *step > 0, s, "a loop's step is positive");
    check(n.unroll >= 0, s, "a loop is unrolled by a number");
    check(!vector_ || n.kind == LoopKind::Serial || n.kind == LoopKind::Vector, s,
          "no GPU loop inside of a vector loop");
    bool threads = n.kind == LoopKind::GPUThread || n.kind == LoopKind::GPUWarp;
    check(n.kind != LoopKind::GPUBlock || (!gpu_block_ && !gpu_thread_ && parallel_depth_ == 0), s,
          "blocks of a GPU do not nest");
    check(!threads || !gpu_thread_, s, "GPU threads do not nest");
    check(
        n.kind != LoopKind::GPULane || (in_warp_ && constant_integer(n.lo) == 0 && constant_integer(n.hi) == warp_size),
        s, "lanes from 0 to 32 are inside of warps");
    check(!is_gpu(n.kind) || step == 1, s, "a loop over blocks or threads has a step of one");
    if (n.kind == LoopKind::Vector)
      if (auto carried = carried_variable(n.body))
        check(false, s, "a vector loop updates '{}' as x = x op e and reads it nowhere else", carried->symbol.name());
    bool vector = vector_, block = gpu_block_, thread = gpu_thread_, warp = in_warp_;
    int loops = loops_;
    vector_ |= n.kind == LoopKind::Vector;
    gpu_block_ |= n.kind == LoopKind::GPUBlock;
    gpu_thread_ |= threads;
    in_warp_ = n.kind == LoopKind::GPUWarp || (in_warp_ && n.kind != LoopKind::GPULane);
    loops_ = n.kind == LoopKind::Serial ? loops_ + 1 : 0;
    in_scope([&] {
      declare(n.var, Mutability::Const, s);
      stmt(n.body);
    });
    loops_ = loops;
    vector_ = vector, gpu_block_ = block, gpu_thread_ = thread, in_warp_ = warp;
  }

  std::map<Symbol, Known> known_;
  std::vector<Symbol> scope_;
  std::set<Symbol> results_;
  int parallel_depth_ = 0, loops_ = 0, branches_ = 0;
  int perhaps_ = 0;  // operands around this one that may not be evaluated
  std::map<Symbol, Define> parts_;
  bool in_part_ = false;
  bool vector_ = false, gpu_block_ = false, gpu_thread_ = false, in_warp_ = false;
};

}  // namespace

Result<> verify(const Function& f) {
  try {
    Verifier().function(f);
    return {};
  } catch (const Refused& r) {
    return Diagnostic{fmt::format("illegal kernel '{}': it should hold that {}", f.name, r.message),
                      {{r.text, 0, r.text.size()}},
                      {}};
  }
}

}  // namespace spdistal::ir
