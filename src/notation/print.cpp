#include "notation/print.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "machine/print.hpp"

namespace spdistal::notation {
namespace {

// How tightly an operator binds; a sub-expression that binds less tightly than its context wants parentheses.
enum Precedence { kOr, kAnd, kComparison, kSum, kProduct, kUnary };

std::string real_text(double value, bool single) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = single ? fmt::format("{}", float(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string_view symbol(BinaryOp op) {
  static constexpr std::string_view symbols[] = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&", "|"};
  return symbols[size_t(op)];
}

Precedence precedence_of(BinaryOp op) {
  if (op == BinaryOp::Or) return kOr;
  if (op == BinaryOp::And) return kAnd;
  if (is_comparison(op)) return kComparison;
  return op == BinaryOp::Add || op == BinaryOp::Sub ? kSum : kProduct;
}

}  // namespace

std::string print(const Scalar& value) {
  return std::visit(
      [](auto v) -> std::string {
        using T = decltype(v);
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, int32_t>) return std::to_string(v);
        else if constexpr (std::is_same_v<T, int64_t>) return std::to_string(v) + (v == int32_t(v) ? "L" : "");
        else if constexpr (std::is_same_v<T, float>) return real_text(v, true) + "f";
        else if constexpr (std::is_same_v<T, double>) return real_text(v, false);
        else if constexpr (std::is_same_v<T, std::complex<float>>)
          return fmt::format("complexf({}, {})", real_text(v.real(), true), real_text(v.imag(), true));
        else return fmt::format("complex({}, {})", real_text(v.real(), false), real_text(v.imag(), false));
      },
      static_cast<const ScalarVariant&>(value));
}

std::string name_of(const Argument& argument) {
  return argument.number == 0 ? "number" : fmt::format("number{}", argument.number);
}

std::string Printer::name(const IndexVar& var) {
  static constexpr std::string_view letters[] = {"i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s"};
  if (const Window* window = var.window()) return window->text(window->of ? name(*window->of) : "");
  return vars_.of(var, letters);
}

std::string Printer::name(const TensorVar& tensor) {
  static constexpr std::string_view temporaries[] = {"t"};
  if (tensor.origin() == Origin::Temporary) return tensors_.of(tensor.symbol(), temporaries);
  return tensors_.numbered(tensor.symbol(), "T");
}

std::string Printer::name(const Param& param) {
  static constexpr std::string_view letters[] = {"n", "m", "p", "q"};
  return params_.of(param.symbol(), letters);
}

std::string Printer::number(const Pieces& pieces) {
  if (pieces.grid_dim()) return pieces.grid_dim()->str();
  if (std::optional<int64_t> value = pieces.value()) return std::to_string(*value);
  return name(*pieces.extent().param());
}

std::string Printer::size(const Pieces& pieces, const IndexVar& of) {
  bool nameless = !pieces.grid_dim() && !pieces.value() && pieces.extent().param()->symbol().name().empty();
  if (!nameless) return number(pieces);
  // A copy of a variable has its size: |j| says more than |j2|.
  auto known = sized_.try_emplace({pieces.extent().param()->symbol(), of.name()}, of).first;
  return fmt::format("|{}|", name(of.name().empty() ? of : known->second));
}

void Printer::access(std::string& out, const Access& access) {
  size_t begin = out.size();
  out += name(access.tensor);
  if (!access.indices.empty()) out += "(" + join(access.indices, ",", [&](const IndexVar& v) { return name(v); }) + ")";
  if (marked_ && !mark_ && marked_(access)) mark_ = {begin, out.size()};
}

void Printer::expression(std::string& out, const Expr& expr, int context) {
  auto wrapped = [&](int precedence, auto&& inside) {
    bool parentheses = precedence < context;
    if (parentheses) out += "(";
    inside();
    if (parentheses) out += ")";
  };
  match(
      expr, [&](const Access& n) { access(out, n); },
      [&](const Literal& n) { wrapped(kUnary, [&] { out += print(n.value); }); },
      [&](const Argument& n) {
        wrapped(kUnary, [&] { out += arguments_ == ArgumentText::Name ? name_of(n) : print(n.value); });
      },
      [&](const Neg& n) {
        wrapped(kUnary, [&] {
          out += "-";
          // -2 is a literal: a negated one keeps its shape as -(2).
          expression(out, n.a, n.a.is<Literal>() || n.a.is<Argument>() ? kUnary + 1 : kUnary);
        });
      },
      [&](const Binary& n) {
        int precedence = precedence_of(n.op);
        wrapped(precedence, [&] {
          expression(out, n.a, is_comparison(n.op) ? precedence + 1 : precedence);
          out += fmt::format(" {} ", symbol(n.op));
          expression(out, n.b, precedence + 1);
        });
      },
      [&](const Call& n) {
        bool maps = n.domain == Domain::Stored;
        out += fmt::format("{}(", maps ? "map" : info(n.function).name);
        for (size_t i = 0; i < n.args.size(); i++) {
          if (i > 0) out += ", ";
          expression(out, n.args[i], kOr);
          if (maps && i == 0) out += fmt::format(", {}", info(n.function).name);
        }
        out += ")";
      },
      [&](const Reduction& n) {
        out += fmt::format("{}({}, ", info(n.op).reduction, name(n.var));
        expression(out, n.body, kOr);
        out += ")";
      });
}

std::string Printer::operator()(const Access& a) {
  std::string out;
  access(out, a);
  return out;
}

std::string Printer::operator()(const Expr& expr) {
  std::string out;
  expression(out, expr, kOr);
  return out;
}

std::string Printer::operator()(const Assignment& assignment) {
  std::string out;
  access(out, assignment.lhs);
  out += fmt::format(" {} ", info(assignment.op).assignment);
  expression(out, assignment.rhs, kOr);
  return out;
}

Excerpt Printer::excerpt(const Assignment& assignment, const std::function<bool(const Access&)>& marked) {
  marked_ = marked;
  mark_.reset();
  std::string text = (*this)(assignment);
  auto [begin, end] = mark_.value_or(std::pair{size_t{0}, text.size()});
  marked_ = nullptr;
  return {text, begin, end};
}

std::string print(const Expr& expr) { return Printer()(expr); }
std::string print(const Assignment& assignment) { return Printer()(assignment); }
std::string print(const ConcreteStatement& statement) { return Printer()(statement); }

}  // namespace spdistal::notation
