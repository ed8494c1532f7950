#include "codegen/expr_text.hpp"

#include "codegen/rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/require.hpp"
#include "base/text.hpp"
#include "ir/build.hpp"
#include "ir/print.hpp"

namespace spdistal::codegen {

using namespace ir;

namespace {

constexpr int select_precedence = 1;

/// Does C convert this way by itself, without loss and in the same manner?
bool widens(ScalarType from, ScalarType to) {
  if (is_complex(from) || is_complex(to)) return false;
  return from < to;
}

ScalarType usual(ScalarType a, ScalarType b) { return std::max({a, b, ScalarType::Int32}); }

template <class T>
std::string float_text(T v, const Spelling& spelling) {
  if (std::isnan(v)) return std::string(spelling.nan);
  if (std::isinf(v)) return fmt::format("{}{}", v < 0 ? "-" : "", spelling.infinity);
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return std::is_same_v<T, float> ? text + "f" : text;
}

template <class T>
std::string integer_text(T v) {
  // The least value has no literal of its own: C reads the minus apart.
  if (v == std::numeric_limits<T>::min()) return fmt::format("({} - 1)", v + 1);
  return fmt::format("{}", v);
}

}  // namespace

std::string ExprText::wrapped(const Text& t, int outer) {
  return t.level < outer ? fmt::format("({})", t.text) : t.text;
}

std::string ExprText::type(const Type& type) {
  if (type.lanes > 1) needs_.vectors.emplace(type.scalar, type.lanes);
  if (is_complex(type.scalar)) needs_.helpers.insert(Helper::Complex);
  return type_text(spelling_, type);
}

std::string ExprText::exact(const Expr& e, int outer) { return wrapped(parts(e), outer); }

std::string ExprText::converted(const Expr& e) {
  if (const ir::Scalar* value = constant(e); value && !is_complex(value->type())) {
    // double x = 0 is as good as 0.0.
    if (value->is(0) && *value == ir::Scalar::number(value->type(), 0) && value->type() != ScalarType::Bool) return "0";
    return loose(e).text;
  }
  return loose(e).text;
}

std::string ExprText::index(const Expr& e, int outer) { return wrapped(loose(e), outer); }

std::string ExprText::address(const Var& array, const Expr& at) {
  if (auto zero = constant_integer(at); zero && *zero == 0) return names_.of(array);
  if (std::optional<Distance> d = distance_of(at))
    if (auto row = rows_.find({array.symbol, d->offset.symbol}); row != rows_.end())
      return d->distance == 0 ? names_.of(row->second) : fmt::format("&{}[{}]", names_.of(row->second), d->distance);
  return fmt::format("&{}[{}]", names_.of(array), index(at));
}

ExprText::Text ExprText::literal(const ir::Scalar& value) {
  return std::visit(
      [&](auto v) -> Text {
        using T = decltype(v);
        if constexpr (std::is_same_v<T, bool>) {
          return {v ? "true" : "false", primary_precedence, ScalarType::Bool};
        } else if constexpr (std::is_integral_v<T>) {
          bool past_all = std::is_same_v<T, int64_t> && v == std::numeric_limits<T>::max();
          std::string text = past_all ? "INT64_MAX" : integer_text(v);
          ScalarType own = v == T(int32_t(v)) && v != std::numeric_limits<T>::min() ? ScalarType::Int32 : value.type();
          return {text, text[0] == '-' ? unary_precedence : primary_precedence, own};
        } else if constexpr (std::is_floating_point_v<T>) {
          std::string text = float_text(v, spelling_);
          if (!std::isfinite(v) && std::is_same_v<T, float>) text = fmt::format("float({})", text);
          return {text, text[0] == '-' ? unary_precedence : primary_precedence, value.type()};
        } else {
          return {fmt::format(fmt::runtime(spelling_.complex_literal), fmt::arg("type", type({value.type()})),
                              fmt::arg("re", float_text(v.real(), spelling_)),
                              fmt::arg("im", float_text(v.imag(), spelling_))),
                  primary_precedence, value.type()};
        }
      },
      value.value());
}

ExprText::Text ExprText::loose(const Expr& e) {
  if (const ir::Scalar* value = constant(e)) return literal(*value);
  if (auto* n = e.as<Cast>())
    if (ScalarType from = type_of(n->value).scalar; widens(from, n->type)) return loose(n->value);
  return parts(e);
}

std::pair<ExprText::Text, ExprText::Text> ExprText::pair(const Expr& a, const Expr& b, ScalarType common) {
  Text x = loose(a), y = loose(b);
  if (is_complex(common) || common == ScalarType::Bool || usual(x.type, y.type) == common) return {x, y};
  if (!constant(a)) return {parts(a), y};
  return {x, parts(b)};
}

ExprText::Text ExprText::binary(const Binary& n) {
  Type type = type_of(n.a);
  ScalarType result = type_of(n).scalar;
  int level = precedence(n.op);
  std::string_view extreme = n.op == BinaryOp::Min ? spelling_.min : spelling_.max;
  if (type.lanes > 1) {
    // A vector and a scalar: GCC makes lanes of the scalar.
    auto side = [&](const Expr& e, const Expr& other, int outer) {
      auto* b = e.as<Broadcast>();
      return b && !other.is<Broadcast>() ? exact(b->value, outer) : exact(e, outer);
    };
    if (n.op == BinaryOp::Min || n.op == BinaryOp::Max) {
      needs_.helpers.insert(Helper::MinMax);
      return {fmt::format("{}({}, {})", extreme, exact(n.a), exact(n.b)), primary_precedence, result};
    }
    return {fmt::format("{} {} {}", side(n.a, n.b, level), ir::spelling(n.op), side(n.b, n.a, level + 1)), level,
            result};
  }
  auto [a, b] = pair(n.a, n.b, type.scalar);
  if (n.op == BinaryOp::Min || n.op == BinaryOp::Max) {
    needs_.helpers.insert(Helper::MinMax);
    bool told = a.type == b.type && a.type == type.scalar;  // by the operands: two bools are no integer
    std::string which = told ? "" : fmt::format("<{}>", this->type(type));
    return {fmt::format("{}{}({}, {})", extreme, which, a.text, b.text), level, result};
  }
  // (a && b) || c is written so, as compilers and people like it.
  int inner = level;
  if (n.op == BinaryOp::Or) inner = precedence(BinaryOp::And) + 1;
  auto of_same_kind = [&](const Expr& e) { return e.is<Binary>() && e.as<Binary>()->op == n.op; };
  return {fmt::format("{} {} {}", wrapped(a, of_same_kind(n.a) ? level : inner), ir::spelling(n.op),
                      wrapped(b, n.op == BinaryOp::Or ? inner : level + 1)),
          level, result};
}

ExprText::Text ExprText::parts(const Expr& e) {
  Type whole = type_of(e);
  ScalarType own = whole.scalar;
  auto primary = [&](std::string text) { return Text{std::move(text), primary_precedence, own}; };
  return match(
      e, [&](const Var& n) { return primary(names_.of(n)); },
      [&](const Literal& n) {
        Text text = literal(n.value);
        return text.type == own ? text : primary(fmt::format("{}({})", type(whole), text.text));
      },
      [&](const Unary& n) {
        return Text{fmt::format("{}{}", n.op == UnaryOp::Neg ? "-" : "!", exact(n.a, primary_precedence)),
                    unary_precedence, own};
      },
      [&](const Binary& n) { return binary(n); },
      [&](const Select& n) {
        auto [yes, no] = pair(n.yes, n.no, own);
        return Text{fmt::format("{} ? {} : {}", exact(n.cond, select_precedence + 1),
                                wrapped(yes, select_precedence + 1), wrapped(no, select_precedence)),
                    select_precedence, own};
      },
      [&](const Load& n) {
        bool fixed = n.array.type.form == Type::Form::ConstArray;
        bool streamed = n.once && fixed && own != ScalarType::Bool && !is_complex(own);
        if (streamed && n.lanes == 1 && spelling_.language == Language::Cuda)
          return primary(fmt::format("__ldcs({})", address(n.array, n.index)));
        if (n.lanes == 1) return primary(fmt::format("{}[{}]", names_.of(n.array), index(n.index)));
        std::string_view constness = fixed ? "const " : "";
        return Text{fmt::format("*({}{}*){}", constness, type(whole), address(n.array, n.index)), unary_precedence,
                    own};
      },
      [&](const Cast& n) {
        if (n.type == ScalarType::Bool) {
          Expr from = n.value;
          return Text{fmt::format("{} != 0", exact(from, precedence(BinaryOp::Ne))), precedence(BinaryOp::Ne), own};
        }
        bool cuts = is_integral(n.type) && !is_integral(type_of(n.value).scalar);
        require(whole.lanes == 1 || !cuts, "floats become integers one by one");
        if (cuts) {
          needs_.helpers.insert(Helper::Whole);
          return primary(fmt::format("whole<{}>({})", type(whole), exact(n.value)));
        }
        if (whole.lanes > 1)
          return primary(fmt::format("__builtin_convertvector({}, {})", exact(n.value), type(whole)));
        return primary(fmt::format("{}({})", type(whole), exact(n.value)));
      },
      [&](const Call& n) {
        ScalarType argument = type_of(n.args[0]).scalar;
        require(whole.lanes == 1, "functions are called lane by lane");
        if (is_complex(argument)) needs_.helpers.insert({Helper::Complex, Helper::ComplexMath});
        if (n.function == Math::Quotient) needs_.helpers.insert(Helper::Quotient);
        std::string name = math_name(spelling_, n.function, argument);
        if (name == "~" || name.ends_with(' '))
          return Text{name + exact(n.args[0], unary_precedence), unary_precedence, own};
        return primary(fmt::format("{}({})", name, join(n.args, ", ", [&](const Expr& a) { return exact(a); })));
      },
      [&](const Search& n) {
        needs_.helpers.insert(Helper::Search);
        auto [lo, hi] = pair(n.lo, n.hi, own);
        // The type of a position is deduced from both bounds: literals and narrower numbers do not tell it.
        std::string low = lo.type == own ? lo.text : exact(n.lo), high = hi.type == own ? hi.text : exact(n.hi);
        return primary(fmt::format("{}({}, {}, {}, {})", n.bound == Bound::Lower ? "lower_bound" : "upper_bound",
                                   names_.of(n.array), low, high, exact(n.value)));
      },
      [&](const Broadcast& n) {
        needs_.helpers.insert(Helper::Splat);
        return primary(fmt::format("splat<{}>({})", type(whole), exact(n.value)));
      },
      [&](const Shuffle& n) {
        constexpr std::string_view peers[] = {"", "_up", "_down", "_xor"};
        if (n.width == warp_size)
          return primary(
              fmt::format("__shfl{}_sync(0xffffffff, {}, {})", peers[size_t(n.peer)], exact(n.value), exact(n.by)));
        needs_.helpers.insert(Helper::WarpReduce);
        return primary(fmt::format("__shfl{}_sync(group_mask<{}>(), {}, {}, {})", peers[size_t(n.peer)], n.width,
                                   exact(n.value), exact(n.by), n.width));
      },
      [&](const WarpReduce& n) { return primary(warp_text("warp_", n.op, n.width, n.value)); },
      [&](const WarpScan& n) { return primary(warp_text("warp_scan_", n.op, n.width, n.value)); },
      [&](const WarpVote& n) {
        constexpr std::string_view votes[] = {"__any_sync(0xffffffff, {})", "__all_sync(0xffffffff, {})",
                                              "__popc(__ballot_sync(0xffffffff, {}))"};
        return primary(fmt::format(fmt::runtime(votes[size_t(n.vote)]), exact(n.cond)));
      });
}

std::string ExprText::warp_text(std::string_view lead, BinaryOp op, int width, const Expr& value) {
  needs_.helpers.insert(Helper::WarpReduce);
  std::string_view name = op == BinaryOp::Add ? "add" : op == BinaryOp::Min ? "min" : "max";
  std::string lanes = width == warp_size ? "" : fmt::format("<{}>", width);
  return fmt::format("{}{}{}({})", lead, name, lanes, exact(value));
}

}  // namespace spdistal::codegen
