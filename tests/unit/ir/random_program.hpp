// Test support: random legal kernels over a few arrays of 16 elements, of all types and all statements, that stay in
// bounds, divide by nothing but numbers, and do not overflow.
#pragma once
#include <cstring>
#include <memory>
#include <random>
#include <set>

#include "ir/build.hpp"
#include "unit/ir/call_data.hpp"

namespace spdistal::testing {

using namespace ir;

inline constexpr int array_size = 16;

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed), f_("random" + std::to_string(seed)) {
    int n = 0;
    for (ScalarType type : all_scalar_types) {
      inputs_.push_back(f_.array("in" + std::to_string(n), n, type));
      outputs_.push_back(f_.array("out" + std::to_string(n), n + 7, type, Access::Write));
      n++;
    }
    sorted_ = f_.array("sorted", 14, ScalarType::Int32);
    scalars_ = {f_.scalar("n", 0, ScalarType::Int32), f_.scalar("m", 1)};
  }

  Function make() {
    int statements = pick(3, 8);
    for (int s = 0; s < statements; s++) {
      statement(3);
      if (chance(10)) threads();
    }
    return f_.build();
  }

 private:
  int pick(int lo, int hi) { return lo + int(random_() % unsigned(hi - lo + 1)); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  ScalarType any_type() { return all_scalar_types[pick(0, 6)]; }
  ScalarType integer_type() { return chance(50) ? ScalarType::Int32 : ScalarType::Int64; }

  std::optional<Expr> variable(ScalarType type) {
    std::vector<Var> of_type;
    for (const auto* list : {&scalars_, &mutables_})
      for (const Var& v : *list)
        if (v.type.scalar == type) of_type.push_back(v);
    if (of_type.empty()) return {};
    return of_type[size_t(pick(0, int(of_type.size()) - 1))];
  }

  Expr leaf(ScalarType type) {
    if (chance(50))
      if (auto v = variable(type)) return *v;
    if (chance(50) && !frozen_.contains(type)) return load(array_of_type(type), index(0));
    if (type == ScalarType::Bool) return literal(ir::Scalar::of(chance(50)));
    if (is_complex(type) && chance(50)) {
      if (type == ScalarType::Complex64) return literal(ir::Scalar::of(std::complex<float>(1, float(pick(-2, 2)))));
      return literal(ir::Scalar::of(std::complex<double>(pick(-2, 2), 0.5)));
    }
    return literal(is_integral(type) ? ir::Scalar::integer(type, pick(-9, 9))
                                     : ir::Scalar::number(type, pick(-9, 9) / 2.0));
  }

  Var array_of_type(ScalarType type) {
    for (const Var& v : locals_)
      if (v.type.scalar == type && chance(50)) return v;
    return chance(50) ? inputs_[size_t(type)] : outputs_[size_t(type)];
  }

  /// Somewhere in [0, 16).
  Expr index(int depth) {
    if (!loops_.empty() && chance(60)) return loops_[size_t(pick(0, int(loops_.size()) - 1))];
    if (depth <= 0 || chance(30)) return literal(ir::Scalar::integer(integer_type(), pick(0, array_size - 1)));
    return min(max(expr(integer_type(), depth - 1), 0), array_size - 1);
  }

  Expr expr(ScalarType type, int depth) {
    if (depth <= 0 || chance(15)) return leaf(type);
    if (type == ScalarType::Bool) return condition(depth);
    auto sub = [&] { return expr(type, depth - 1); };
    if (chance(10)) return select(condition(depth - 1), sub(), sub());
    if (chance(10)) return unary(UnaryOp::Neg, sub());
    if (is_integral(type)) {
      switch (pick(0, 8)) {
        case 0: return sub() - sub();
        case 1: return (sub() % 37) * (sub() % 41);
        case 2: return sub() / pick(1, 9);
        case 3: return sub() % pick(2, 9);
        case 4: return min(sub(), sub());
        case 5: return max(sub(), sub());
        case 6: return cast(type, expr(type == ScalarType::Int32 ? ScalarType::Int64 : ScalarType::Bool, depth - 1));
        case 7: return chance(50) ? call(Math::Abs, {sub()}) : search(type);
        default: return sub() + sub();
      }
    }
    switch (pick(0, is_complex(type) ? 3 : 7)) {
      case 0: return sub() - sub();
      case 1: return sub() * sub();
      case 2: return cast(type, expr(ScalarType(pick(0, is_complex(type) ? int(type) - 2 : int(type) - 1)), depth - 1));
      case 4: return min(sub(), sub());
      case 5: return max(sub(), sub());
      case 6: return sub() / sub();
      case 7: return call(chance(50) ? Math::Floor : Math::Abs, {sub()});
      default: return sub() + sub();
    }
  }

  Expr search(ScalarType type) {
    Expr lo = literal(ir::Scalar::integer(type, 0)), hi = literal(ir::Scalar::integer(type, array_size));
    Expr value = expr(integer_type(), 1);
    return chance(50) ? lower_bound(sorted_, lo, hi, value) : upper_bound(sorted_, lo, hi, value);
  }

  Expr condition(int depth) {
    if (depth <= 0) return leaf(ScalarType::Bool);
    switch (pick(0, 4)) {
      case 0: return condition(depth - 1) && condition(depth - 1);
      case 1: return condition(depth - 1) || condition(depth - 1);
      case 2: return !condition(depth - 1);
      default: {
        ScalarType type = all_scalar_types[pick(1, 6)];
        BinaryOp op = is_complex(type) ? (chance(50) ? BinaryOp::Eq : BinaryOp::Ne)
                                       : BinaryOp(pick(int(BinaryOp::Lt), int(BinaryOp::Ne)));
        return binary(op, expr(type, depth - 1), expr(type, depth - 1));
      }
    }
  }

  /// Whole numbers stay small, so that nothing overflows later.
  Expr bounded(ScalarType type, int depth) {
    Expr e = expr(type, depth);
    return type == ScalarType::Int32 || type == ScalarType::Int64 ? e % 1000 : e;
  }

  /// Runs `fill` in a scope: what it declares is forgotten after it.
  void scoped(const std::function<void()>& fill) {
    auto scalars = scalars_, mutables = mutables_, loops = loops_, locals = locals_;
    fill();
    scalars_ = scalars, mutables_ = mutables, loops_ = loops, locals_ = locals;
  }

  void statements(int depth, int most = 3) {
    int n = pick(1, most);
    for (int s = 0; s < n; s++) statement(depth);
  }

  void statement(int depth) {
    switch (pick(0, depth > 0 ? 16 : 5)) {
      case 0: scalars_.push_back(f_.constant(name("c"), bounded(any_type(), 3))); break;
      case 1: mutables_.push_back(f_.variable(name("v"), bounded(any_type(), 3))); break;
      case 2:
        if (!mutables_.empty()) {
          Var v = mutables_[size_t(pick(0, int(mutables_.size()) - 1))];
          f_.assign(v, chance(30) && v.type.scalar != ScalarType::Bool && !is_integral(v.type.scalar)
                           ? v + expr(v.type.scalar, 2)
                           : bounded(v.type.scalar, 3));
        }
        break;
      case 3: f_.prefetch(inputs_[4], index(1)); break;
      case 4:
      case 5: {
        Var to = outputs_[size_t(pick(0, 6))];
        ScalarType type = to.type.scalar;
        bool add = chance(40) && !is_integral(type);
        f_.add(store(to, index(2), bounded(type, 3), add ? StoreMode::Add : StoreMode::Set));
        break;
      }
      case 6:
      case 7: counted_loop(depth); break;
      case 8: while_loop(depth); break;
      case 9: f_.when(condition(2), [&] { scoped([&] { statements(depth - 1); }); }); break;
      case 10:
        f_.when(
            condition(2), [&] { scoped([&] { statements(depth - 1); }); },
            [&] { scoped([&] { statements(depth - 1); }); });
        break;
      case 11: vector_loop(); break;
      case 12: accumulation(); break;
      case 16: outer_vector_loop(); break;
      case 13: {
        Var local = f_.allocate(name("local"), any_type(), array_size, Fill::Zeroed);
        locals_.push_back(local);
        f_.loop(name("k"), 0, array_size, [&](Var k) { f_.store(local, k, bounded(local.type.scalar, 2)); });
        if (local.type.scalar == ScalarType::Int32 || local.type.scalar == ScalarType::Int64)
          f_.sort(local, pick(0, 3), pick(0, array_size));
        break;
      }
      case 14: f_.add(f_.collect([&] { f_.comment("a scope"), scoped([&] { statements(depth - 1); }); })); break;
      default: registers(); break;
    }
  }

  void counted_loop(int depth) {
    Type type{integer_type()};
    int lo = pick(0, 5), hi = pick(0, array_size);
    LoopOptions options{.unroll = chance(30) ? 0 : 1, .step = int64(chance(70) ? 1 : pick(1, 3))};
    Expr last = chance(50) ? literal(ir::Scalar::integer(type.scalar, hi))
                           : cast(type.scalar, min(max(expr(ScalarType::Int32, 1), 0), hi));
    f_.loop(
        name("i"), literal(ir::Scalar::integer(type.scalar, lo)), last,
        [&](Var i) {
          scoped([&] {
            loops_.push_back(i);
            scalars_.push_back(i);
            statements(depth - 1);
            if (chance(15)) f_.when(condition(1), [&] { f_.stop(); });
          });
        },
        options);
  }

  void while_loop(int depth) {
    Var turn = f_.variable(name("turn"), int32(0));
    int turns = pick(0, 5);
    f_.loop_while(turn < turns && condition(1), [&] {
      f_.increase(turn, 1);
      scoped([&] { statements(depth - 1, 2); });
    });
  }

  /// out[k] = … of inputs at k and of what is the same in all turns; perhaps a sum of whole numbers.
  void vector_loop() {
    Var to = outputs_[size_t(pick(0, 6))];
    ScalarType type = to.type.scalar;
    Var sum = f_.variable(name("sum"), zero(Int64));
    f_.loop(name("k"), int32(0), int32(pick(0, array_size)),
            [&](Var k) {
              scoped([&] {
                frozen_ = {std::begin(all_scalar_types), std::end(all_scalar_types)};
                Expr here = load(inputs_[size_t(type)], k);
                Expr e = bounded(type, 1);
                if (type == ScalarType::Bool) f_.store(to, k, here && e);
                else f_.add(store(to, k, here * e, chance(50) && !is_integral(type) ? StoreMode::Add : StoreMode::Set));
                f_.increase(sum, load(inputs_[2], k));
                frozen_.clear();
              });
            },
            {.kind = LoopKind::Vector});
    f_.store(outputs_[2], pick(0, array_size - 1), sum % 1000);
  }

  /// A vector loop with loops inside: turns read inputs, and store elements of their own.
  void outer_vector_loop() {
    Type type{integer_type()};
    Var to = outputs_[size_t(chance(80) ? pick(1, 4) : pick(0, 6))];
    Expr last = chance(50) ? literal(ir::Scalar::integer(type.scalar, pick(0, array_size)))
                           : cast(type.scalar, min(max(expr(ScalarType::Int32, 1), 0), array_size));
    f_.loop(name("k"), literal(ir::Scalar::integer(type.scalar, pick(0, 2))), last,
            [&](Var k) {
              scoped([&] {
                frozen_ = {std::begin(all_scalar_types), std::end(all_scalar_types)};
                Var own = f_.variable(name("own"), first_of_lane(to));
                mutables_ = {own};
                loops_ = {k};
                if (chance(70)) scalars_.push_back(k);
                turn_of_lane(to, k, 3);
                f_.store(to, k, own);
                frozen_.clear();
              });
            },
            {.kind = LoopKind::Vector});
  }

  Expr first_of_lane(const Var& to) { return chance(50) ? zero(to.type.element()) : bounded(to.type.scalar, 1); }

  void turn_of_lane(const Var& to, const Var& k, int depth) {
    for (int n = pick(1, 4); n > 0; n--) switch (pick(0, depth > 0 ? 9 : 5)) {
        case 0: scalars_.push_back(f_.constant(name("x"), load(inputs_[size_t(pick(1, 6))], index(0)))); break;
        case 1: scalars_.push_back(f_.constant(name("c"), bounded(any_type(), 2))); break;
        case 2: mutables_.push_back(f_.variable(name("v"), first_of_lane(to))); break;
        case 3:
        case 4: {
          Var v = mutables_[size_t(pick(0, int(mutables_.size()) - 1))];
          Expr in = load(inputs_[size_t(v.type.scalar)], index(0)), e = bounded(v.type.scalar, 2);
          bool adds = chance(70) && v.type.scalar != ScalarType::Bool;
          f_.assign(v, adds ? v + (chance(50) || is_integral(v.type.scalar) ? in : e) : e);
          break;
        }
        case 5: f_.store(to, k, chance(30) ? load(to, k) : bounded(to.type.scalar, 2)); break;
        case 6: f_.when(condition(1), [&] { scoped([&] { turn_of_lane(to, k, depth - 1); }); }); break;
        case 7: {
          Var turn = f_.variable(name("turn"), int32(0));
          f_.loop_while(turn < pick(0, 3) && condition(0), [&] {
            f_.increase(turn, 1);
            scoped([&] { turn_of_lane(to, k, depth - 1); });
          });
          break;
        }
        default:
          f_.loop(name("p"), int32(pick(0, 2)),
                  chance(80) ? int32(pick(0, 6)) : min(max(expr(ScalarType::Int32, 1), 0), 6), [&](Var p) {
                    scoped([&] {
                      loops_.push_back(p);
                      scalars_.push_back(p);
                      turn_of_lane(to, k, depth - 1);
                      if (chance(20)) f_.when(condition(1), [&] { f_.stop(); });
                    });
                  });
      }
  }

  /// Every thread stores an element of its own and adds to one that all share.
  void threads() {
    Var to = outputs_[size_t(pick(0, 6))];
    f_.parallel(name("t"), int64(pick(0, array_size)), [&](Var t) {
      scoped([&] {
        frozen_ = {std::begin(all_scalar_types), std::end(all_scalar_types)};
        scalars_.push_back(t);
        scalars_.push_back(f_.constant(name("x"), bounded(any_type(), 2)));
        mutables_ = {f_.variable(name("own"), load(inputs_[1], t))};
        f_.assign(mutables_[0], bounded(ScalarType::Int32, 2));
        f_.store(to, t, bounded(to.type.scalar, 2));
        if (to.type.scalar != ScalarType::Int64) f_.atomic_add(outputs_[2], 3, t * 3);
        frozen_.clear();
      });
    });
  }

  /// Adds to one element, or one short row, again and again.
  void accumulation() {
    ScalarType type = ScalarType(pick(3, 6));
    Var to = outputs_[size_t(type)];
    auto in = [&](const Expr& at) { return load(inputs_[size_t(type)], at); };
    if (chance(50)) {
      int at = pick(0, array_size - 1);
      f_.loop(name("p"), int32(pick(0, 2)), min(max(expr(ScalarType::Int32, 1), 0), array_size),
              [&](Var p) { f_.store_add(to, at, in(p)); });
      return;
    }
    LoopKind kind = chance(50) ? LoopKind::Vector : LoopKind::Serial;
    f_.loop(name("p"), int32(pick(0, 2)), min(max(expr(ScalarType::Int32, 1), 0), 8), [&](Var p) {
      f_.loop(name("k"), int32(0), int32(8), [&](Var k) { f_.store_add(to, k + 8, in(p)*in(p + k)); }, {.kind = kind});
    });
  }

  /// A small array that vector loops accumulate in.
  void registers() {
    ScalarType type = ScalarType(pick(1, 4));
    auto in = [&](const Expr& at) { return load(inputs_[size_t(type)], at); };
    LoopOptions vector{.kind = LoopKind::Vector};
    Var sums = f_.allocate(name("sums"), type, 8, Fill::Zeroed);
    f_.loop(name("p"), int32(0), int32(pick(0, 8)), [&](Var p) {
      f_.loop(
          name("k"), int32(0), int32(8),
          [&](Var k) {
            Var x = f_.constant(name("x"), in(k + p) - in(k));
            f_.store_add(sums, k, x * in(p) + x);
          },
          vector);
    });
    f_.loop(
        name("k"), int32(0), int32(8),
        [&](Var k) {
          Expr value = max(load(sums, k), in(k));
          f_.store(outputs_[size_t(type)], k + 4, is_integral(type) && !chance(20) ? value : value);
        },
        vector);
  }

  std::string name(const std::string& stem) { return chance(50) ? stem : stem + std::to_string(pick(0, 9)); }

  std::mt19937 random_;
  FunctionBuilder f_;
  std::vector<Var> inputs_, outputs_, scalars_, mutables_, loops_, locals_;
  std::set<ScalarType> frozen_;  // types whose arrays may not be loaded just now
  Var sorted_ = var("sorted", Int32);
};

/// The arrays of a random program, filled by a seed; equal to others where all have the same bits (any NaN is NaN).
class RandomData {
 public:
  explicit RandomData(unsigned seed) {
    std::mt19937 random(seed);
    for (ScalarType type : all_scalar_types)
      for (auto* list : {&in_, &out_}) {
        auto& bytes = list->emplace_back(size_of(type) * array_size);
        for (size_t i = 0; i < array_size; i++) {
          ir::Scalar s = is_integral(type) ? ir::Scalar::integer(type, int64_t(random() % 19) - 9)
                                           : ir::Scalar::number(type, (double(random() % 33) - 16) / 2);
          std::visit([&](auto v) { std::memcpy(bytes.data() + i * sizeof v, &v, sizeof v); }, s.value());
        }
      }
    for (int i = 0; i < array_size; i++) sorted_.push_back(int32_t(i / 2 * 3 - 10));
  }

  CallData& call() {
    call_ = std::make_unique<CallData>(2);
    for (auto* list : {&in_, &out_})
      for (size_t t = 0; t < 7; t++) call_->array({(*list)[t].data(), array_size, nullptr});
    call_->array(CallData::view(sorted_));
    call_->scalar(5);
    call_->scalar(-3);
    return *call_;
  }

  bool operator==(const RandomData& other) const {
    for (size_t t = 0; t < 7; t++) {
      bool same = with_type(ScalarType(t), [&](auto zero) {
        using T = decltype(zero);
        auto* a = reinterpret_cast<const T*>(out_[t].data());
        auto* b = reinterpret_cast<const T*>(other.out_[t].data());
        for (int i = 0; i < array_size; i++)
          if (!equal_values(a[i], b[i])) return false;
        return true;
      });
      if (!same) return false;
    }
    return true;
  }

 private:
  template <class T>
  static bool equal_values(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0;
    else if constexpr (std::is_integral_v<T>) return a == b;
    else return equal_values(a.real(), b.real()) && equal_values(a.imag(), b.imag());
  }

  std::vector<std::vector<char>> in_, out_;
  std::vector<int32_t> sorted_;
  std::unique_ptr<CallData> call_;
};

}  // namespace spdistal::testing
