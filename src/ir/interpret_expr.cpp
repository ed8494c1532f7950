// Expressions of the interpreter: each becomes a closure that computes one lane of it.
#include <fmt/format.h>

#include "ir/build.hpp"
#include "ir/interpret_code.hpp"
#include "ir/lockstep.hpp"

namespace spdistal::ir {

void out_of_bounds(const std::string& array, int64_t index, int64_t count) {
  throw InternalError(
      fmt::format("internal error: a kernel uses element {} of array '{}', which has {}. Please report this.", index,
                  array, count));
}

void touch(Frame& f, Frame::Array& array, int64_t index, Use access, const std::string& name) {
  if (f.launch) return touch_on_gpu(f, array, index, access, name);
  array.touches.resize(size_t(array.count));
  Touch& t = array.touches[size_t(index)];
  if (t.region != f.region) t = {f.region};
  auto other = [&](int64_t who) { return who != Touch::nobody && who != f.thread; };
  bool atomically = access == Use::Atomic && t.atomic;
  if ((other(t.stored_by) && !atomically) || (access != Use::Load && other(t.loaded_by)))
    throw InternalError(fmt::format(
        "internal error: threads of a kernel race for element {} of array '{}'. Please report this.", index, name));
  int64_t& by = access == Use::Load ? t.loaded_by : t.stored_by;
  by = by == Touch::nobody || by == f.thread ? f.thread : Touch::several;
  if (access != Use::Load) t.atomic = access == Use::Atomic;
}

size_t Slots::declare_value(const Var& v) {
  // A symbol may be declared again in a sibling scope, with the slot it had.
  auto [it, fresh] = values_.emplace(v.symbol, next_value_);
  if (fresh) next_value_ += size_t(v.type.lanes);
  return it->second;
}

size_t Slots::declare_array(const Var& v) {
  auto [it, fresh] = arrays_.emplace(v.symbol, next_array_);
  if (fresh) next_array_++;
  return it->second;
}

size_t Slots::value(const Var& v) const {
  auto it = values_.find(v.symbol);
  require(it != values_.end(), "a variable is declared before it is used");
  return it->second;
}

size_t Slots::array(const Var& v) const {
  auto it = arrays_.find(v.symbol);
  require(it != arrays_.end(), "an array is declared before it is used");
  return it->second;
}

Eval<int64_t> Slots::integer(const Expr& e) const {
  if (auto value = constant_integer(e)) return [v = *value](Frame&) { return v; };
  if (type_of(e).scalar == ScalarType::Int64) return eval<int64_t>(e);
  return [x = eval<int32_t>(e)](Frame& f) { return int64_t(x(f)); };
}

namespace {

/// `Lockstep` computes such operations for all lanes, and takes them out of the expressions of one.
template <class T>
Eval<T> of_all_lanes() {
  throw InternalError("internal error: what a warp computes together stands inside of GPU threads");
}

}  // namespace

// Before eval, which calls them: clang 14 leaves out what it meets first inside of there.
template <class T>
Eval<T> Slots::math(const Call& n, int lane) const {
  ScalarType argument = type_of(n.args[0]).scalar;
  if (argument != scalar_type_of<T>()) {  // complex to real
    if constexpr (std::is_floating_point_v<T>)
      return [f = n.function, a = eval<std::complex<T>>(n.args[0], lane)](Frame& frame) {
        return evaluate_real_part(f, a(frame));
      };
  }
  auto a = eval<T>(n.args[0], lane);
  if (n.args.size() == 1) return [f = n.function, a](Frame& frame) { return evaluate_math<T>(f, a(frame), T()); };
  return [f = n.function, a, b = eval<T>(n.args[1], lane)](Frame& frame) {
    return evaluate_math<T>(f, a(frame), b(frame));
  };
}

template <class T>
Eval<T> Slots::search(const Search& n) const {
  if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    return with_type(n.array.type.scalar, [&](auto element) -> Eval<T> {
      using E = decltype(element);
      return with_type(type_of(n.value).scalar, [&](auto sought) -> Eval<T> {
        using V = decltype(sought);
        if constexpr (is_complex_v<E> || is_complex_v<V>) {
          require(false, "real numbers are searched for");
          return {};
        } else {
          return [a = array(n.array), lo = eval<T>(n.lo), hi = eval<T>(n.hi), value = eval<V>(n.value), bound = n.bound,
                  name = n.array.symbol.name()](Frame& f) {
            T first = lo(f), last = hi(f);
            V v = value(f);
            Frame::Array& from = f.arrays[a];
            if (first < last && (first < 0 || last > from.count)) out_of_bounds(name, last - 1, from.count);
            while (first < last) {
              T middle = first + (last - first) / 2;
              touched(f, from, middle, Use::Load, name);
              E x = static_cast<const E*>(from.data)[middle];
              if (x < v || (bound == Bound::Upper && x == v)) first = middle + 1;
              else last = middle;
            }
            return first;
          };
        }
      });
    });
  } else {
    require(false, "a position is an integer");
    return {};
  }
}

template <class T>
Eval<T> Slots::eval(const Expr& e, int lane) const {
  require(type_of(e).scalar == scalar_type_of<T>(), "an expression is computed in its own type");
  return match(
      e, [&](const Var& n) -> Eval<T> { return [s = value(n) + size_t(lane)](Frame& f) { return f.value<T>(s); }; },
      [&](const Literal& n) -> Eval<T> { return [v = n.value.as<T>()](Frame&) { return v; }; },
      [&](const Unary& n) -> Eval<T> {
        if constexpr (std::is_same_v<T, bool>) return [a = eval<T>(n.a, lane)](Frame& f) { return !a(f); };
        else return [a = eval<T>(n.a, lane)](Frame& f) { return negate(a(f)); };
      },
      [&](const Binary& n) -> Eval<T> { return binary<T>(n, lane); },
      [&](const Select& n) -> Eval<T> {
        return [c = eval<bool>(n.cond), y = eval<T>(n.yes, lane), z = eval<T>(n.no, lane)](Frame& f) {
          return c(f) ? y(f) : z(f);
        };
      },
      [&](const Load& n) -> Eval<T> {
        return [a = array(n.array), i = integer(n.index), lane, name = n.array.symbol.name()](Frame& f) {
          Frame::Array& from = f.arrays[a];
          int64_t at = i(f) + lane;
          if (uint64_t(at) >= uint64_t(from.count)) out_of_bounds(name, at, from.count);
          touched(f, from, at, Use::Load, name);
          return static_cast<const T*>(from.data)[at];
        };
      },
      [&](const Cast& n) -> Eval<T> {
        return with_type(type_of(n.value).scalar, [&](auto zero) -> Eval<T> {
          using From = decltype(zero);
          return [v = eval<From>(n.value, lane)](Frame& f) { return convert<T>(v(f)); };
        });
      },
      [&](const Call& n) -> Eval<T> { return math<T>(n, lane); },
      [&](const Search& n) -> Eval<T> { return search<T>(n); },
      [&](const Broadcast& n) -> Eval<T> { return eval<T>(n.value); },
      [&](const Shuffle&) -> Eval<T> { return of_all_lanes<T>(); },
      [&](const WarpReduce&) -> Eval<T> { return of_all_lanes<T>(); },
      [&](const WarpScan&) -> Eval<T> { return of_all_lanes<T>(); },
      [&](const WarpVote&) -> Eval<T> { return of_all_lanes<T>(); });
}

template <class T>
Eval<T> Slots::binary(const Binary& n, int lane) const {
  if constexpr (std::is_same_v<T, bool>) {
    if (n.op == BinaryOp::And)
      return [a = eval<bool>(n.a, lane), b = eval<bool>(n.b, lane)](Frame& f) { return a(f) && b(f); };
    if (n.op == BinaryOp::Or)
      return [a = eval<bool>(n.a, lane), b = eval<bool>(n.b, lane)](Frame& f) { return a(f) || b(f); };
    return compare(n, lane);
  } else {
    return with_op<BinaryOp::Add, BinaryOp::Max>(n.op, [&](auto op) -> Eval<T> {
      constexpr BinaryOp Op = decltype(op)::value;
      // A literal on the right, as in p + 1, needs no call of its own.
      if (auto* right = n.b.as<Literal>())
        return [a = eval<T>(n.a, lane), b = right->value.as<T>()](Frame& f) { return arithmetic<Op>(a(f), b); };
      return [a = eval<T>(n.a, lane), b = eval<T>(n.b, lane)](Frame& f) {
        T x = a(f);
        return arithmetic<Op>(x, b(f));
      };
    });
  }
}

Eval<bool> Slots::compare(const Binary& n, int lane) const {
  return with_type(type_of(n.a).scalar, [&](auto zero) -> Eval<bool> {
    using T = decltype(zero);
    return with_op<BinaryOp::Lt, BinaryOp::Ne>(n.op, [&](auto op) -> Eval<bool> {
      constexpr BinaryOp Op = decltype(op)::value;
      return [a = eval<T>(n.a, lane), b = eval<T>(n.b, lane)](Frame& f) { return comparison<Op, T>(a(f), b(f)); };
    });
  });
}

template Eval<bool> Slots::eval<bool>(const Expr&, int) const;
template Eval<int32_t> Slots::eval<int32_t>(const Expr&, int) const;
template Eval<int64_t> Slots::eval<int64_t>(const Expr&, int) const;
template Eval<float> Slots::eval<float>(const Expr&, int) const;
template Eval<double> Slots::eval<double>(const Expr&, int) const;
template Eval<std::complex<float>> Slots::eval<std::complex<float>>(const Expr&, int) const;
template Eval<std::complex<double>> Slots::eval<std::complex<double>>(const Expr&, int) const;

}  // namespace spdistal::ir
