#include "support/random_statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "support/random_number.hpp"

namespace spdistal::test {
namespace {

const std::vector<std::string> well_known = {
    "a(i) = B(i,j) * c(j)",
    "a(i) += B(i,j) * c(j)",
    "a(j) = B(i,j) * c(i)",
    "a(i) = b(i) + B(i,j) * c(j)",
    "a(i) = b(i) - B(i,j) * c(j) + d(i)",
    "a(i) = b(i)",
    "A(i,j) = B(i,j)",
    "A(i,j) = B(j,i)",
    "A(i,j) = B(i,k) * C(k,j)",
    "A(i,j) = B(i,k) * B(k,j)",
    "A(i,j) = B(k,i) * C(k,j)",
    "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
    "A(i,j) = B(i,j) * C(i,j) * D(i,j)",
    "A(i,j) = B(i,j) * C(i,j) + D(i,j)",
    "A(i,j) = B(i,j) * (C(i,j) + D(i,j))",
    "A(i,j) = B(i,j) - C(j,i)",
    "A(i,j) = 2 * B(i,j) - C(j,i)",
    "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
    "A(i,j) = B(i,j,k) * c(k)",
    "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
    "A(i,j,k) = B(i,j,k) + C(i,j,k)",
    "A(i,j,l) = B(i,j,k) * C(k,l)",
    "s = b(i) * c(i)",
    "s = B(i,j) * C(i,j)",
    "s = B(i,j,k) * C(i,j,k)",
    "s = sqrt(sum(i, b(i) * b(i)))",
    "a(i) = B(i,i)",
    "a(i) = B(i,j) * c(j) * (d(k) * e(k))",
    "A(i,j) = b(i) * c(j)",
    "x(i) = B(i,j) * x(j)",
    "a(i) = (B(i,k) + C(i,k)) * d(k)",
    "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)",
    "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
    "a(i) = max(b(i), 0) * min(c(i), 2)",
    "A(i,j) = B(i,j) + 2",
    "A(i,j) = max(B(i,j), 3)",
    "A(i,j) = abs(B(i,j)) + -C(i,j)",
    "a(i) = sum(j, B(i,j)) + sum(j, C(i,j))",
    "y(i) = b(i) - A(i,j) * x(j)",
    "y(i) = 2 * A(j,i) * x(j) + 3 * z(i)",
    "d(i) min= A(j,i) + d(j)",
    "d(i) = min(j, B(i,j) + c(j))",
    "A(i,j) = min(k, B(i,k) + C(k,j))",
    "A(i,j) = max(k, min(B(i,k), C(k,j)))",
    "d(i) max= min(A(j,i), d(j))",
    "v(i) |= A(j,i) & f(j)",
    "v(i) &= A(i,j) | f(j)",
    "f(i) = any(j, A(j,i) & f(j)) & (v(i) == 0)",
    "a(i) = all(j, B(i,j) <= c(j))",
    "a(i) *= B(i,j)",
    "a(i) = prod(j, B(i,j))",
    "s = sum(i, A(i,j) * A(j,k) * A(i,k))",
    "s max= abs(y(i) - x(i))",
    "A(i,j) = map(B(i,j), sigmoid)",
    "A(i,j) = map(B(i,j), max, 2) + C(i,j)",
    "A(i,j) = select(M(i,j), B(i,j), C(i,j))",
    "A(i,j) = B(i,j) * (B(i,j) > 1)",
    "l(i) = min(j, select(A(i,j) != 0, l(j), l(i)))",
    "A(i,j) = floor(B(i,j) / 2) + round(C(i,j))",
    "A(i,j) = B(i,j) / sum(k, B(i,k))",
    "a(i) = sum(j, B(i,j)) / sum(j, C(i,j))",
    "a(i) = sum(j, B(i,j) * c(j)) * any(j, D(i,j)) / e(i)",
    "a(i) = prod(j, B(i,j)) / max(j, C(i,j)) + d(i)",
};

const std::vector<std::string> with_windows = {
    "a(i) = b(i+1) - b(i)",
    "a(i) = b(i+2) - 2 * b(i+1) + b(i)",
    "a(i) = B(i,0) + B(i,j) * c(j)",
    "a(j) = B(1,j)",
    "s = b(0) * c(1)",
    "A(i,j) = B(i(1,4),j(0,2))",
    "A(i,j) = B(i(0,5,2),j) * C(i,j)",
    "A(i,j) = B(i+1,j) + B(i,j+1)",
    "A(i,j) = B(2*i,j) + B(2*i+1,j)",
    "a(i) = B(i,j+1) * c(j)",
    "a(i) = B(i,j) * c(j+1)",
    "A(i,j) = B(i,k+1) * C(k,j)",
    "a(i) = B(i,i+1)",
    "s = b(i+1) * b(i)",
    "a(i) = min(j, B(i,j+1) + c(j))",
};

// Of blocked matrices and vectors.
const std::vector<std::string> of_blocks = {
    "y(io,ii) = A(io,jo,ii,ji) * x(jo,ji)",
    "y(jo,ji) = A(io,jo,ii,ji) * x(io,ii)",
    "y(io,ii) = b(io,ii) - A(io,jo,ii,ji) * x(jo,ji)",
    "A(io,jo,ii,ji) = B(io,jo,ii,ji)",
    "A(io,jo,ii,ji) = B(jo,io,ji,ii)",
    "A(io,jo,ii,ji) = B(io,jo,ii,ji) + C(io,jo,ii,ji)",
    "A(io,jo,ii,ji) = B(io,jo,ii,ji) * C(io,jo,ii,ji) - D(io,jo,ii,ji)",
    "A(io,jo,ii,ji) = B(io,ko,ii,ki) * C(ko,jo,ki,ji)",
    "A(io,ii,j) = B(io,ko,ii,ki) * C(ko,ki,j)",
    "A(io,jo,ii,ji) = B(io,jo,ii,ji) * C(io,ii,k) * D(jo,ji,k)",
    "s = A(io,jo,ii,ji) * B(io,jo,ii,ji)",
    "s = x(io,ii) * y(io,ii)",
    "x(io,ii) += 2 * p(io,ii)",
    "a(io) = A(io,jo,ii,ji)",
    "A(io,jo) = max(ii, max(ji, B(io,jo,ii,ji)))",
    "A(io,jo,ii,ji) = map(B(io,jo,ii,ji), abs)",
    "x(io,ii) = B(io,jo,ii,ji) * x(jo,ji)",
};

using Words = std::vector<std::string>;

// What tensors and variables are called.
struct Alphabet {
  Words tensors, variables;
};
const Alphabet usual{{"A", "B", "C", "D", "E", "F", "G", "H"}, {"i", "j", "k", "l", "m", "n"}};
const Alphabet alike{
    {"C", "C'", "C_", "C2", "C'2", "C_2", "B", "B2", "B_", "B'", "B2_pos", "B_vals", "B2_crd", "i", "s"},
    {"i", "i'", "i_", "i2", "ip", "j", "j'", "j_", "i_end", "io"}};
const Alphabet spoken_for{
    {"bitand", "typeof", "INT64_MAX", "int",   "double", "vals",  "pos",  "crd",          "restrict", "context",
     "main",   "NULL",   "asm",       "linux", "std",    "errno", "call", "thread_local", "_Bool",    "I"},
    {"int64_t", "while", "new", "register", "EOF", "xor", "signed", "min_", "unix", "auto"}};

class Statement {
 public:
  explicit Statement(std::mt19937_64& random) : random_(random) {
    size_t kind = weighted(random, {80, 14, 6});
    const Alphabet& alphabet = kind == 0 ? usual : kind == 1 ? alike : spoken_for;
    names_ = alphabet.tensors;
    variables_ = alphabet.variables;
    if (kind > 0) {
      std::shuffle(names_.begin(), names_.end(), random);
      std::shuffle(variables_.begin(), variables_.end(), random);
    }
    size_t order = draw_order({10, 26, 36, 15, 9, 4});
    left_.assign(variables_.begin(), variables_.begin() + long(order));
    size_t summed = weighted(random, {30, 45, 25});
    if (order + summed > 6) summed = 6 - order;
    inside_.assign(variables_.begin(), variables_.begin() + long(std::min(variables_.size(), order + summed)));
    result_ = make_tensor(order);
  }

  std::string text() {
    Words indices = left_;
    if (indices.size() > 1 && one_in(random_, 3)) std::shuffle(indices.begin(), indices.end(), random_);
    std::string left = called(result_, indices);
    return left + assignment() + sum(inside_, {55, 30, 15});
  }

 private:
  struct Tensor {
    std::string name;
    size_t order;
  };

  size_t draw_order(const std::vector<int>& weights) { return weighted(random_, weights); }

  Tensor make_tensor(size_t order) {
    Tensor tensor{names_[std::min(tensors_.size(), names_.size() - 1)], order};
    // There are names enough; a scalar may share none.
    tensors_.push_back(tensor);
    return tensor;
  }

  static std::string called(const Tensor& tensor, const Words& indices) {
    return indices.empty() ? tensor.name : tensor.name + "(" + join(indices, ",") + ")";
  }

  std::string access(const Words& variables) {
    size_t order = std::min(draw_order({5, 28, 38, 16, 8, 5}), variables.size());
    Words indices = variables;
    std::shuffle(indices.begin(), indices.end(), random_);
    indices.resize(order);
    // Mostly in the order of the variables, as people write.
    if (!one_in(random_, 3))
      std::sort(indices.begin(), indices.end(), [&](const auto& a, const auto& b) {
        return std::find(variables_.begin(), variables_.end(), a) < std::find(variables_.begin(), variables_.end(), b);
      });
    if (order > 1 && one_in(random_, 25)) indices[0] = indices[1];
    if (windows_)
      for (std::string& index : indices)
        if (one_in(of_windows_, 3)) index = window(index);
    std::vector<Tensor> same;
    for (size_t k = one_in(random_, 6) ? 0 : 1; k < tensors_.size(); k++)
      if (tensors_[k].order == order) same.push_back(tensors_[k]);
    bool full = tensors_.size() >= names_.size();
    if (!same.empty() && (full || one_in(random_, 3))) return called(pick(random_, same), indices);
    if (full) return "2";
    return called(make_tensor(order), indices);
  }

  // An index in the place of a variable: shifted, with a stride, a window, a coordinate.
  std::string window(const std::string& variable) {
    int64_t first = number(of_windows_, 0, 2), count = number(of_windows_, 0, 3), stride = number(of_windows_, 1, 3);
    switch (weighted(of_windows_, {40, 10, 10, 15, 10, 15})) {
      case 0: return fmt::format("{}+{}", variable, first + 1);
      case 1: return fmt::format("2*{}", variable);
      case 2: return fmt::format("{}*{}+{}", stride, variable, first);
      case 3: return fmt::format("{}({},{})", variable, first, first + count);
      case 4: return fmt::format("{}({},{},{})", variable, first, first + stride * count, stride);
      default: return fmt::format("{}", first);
    }
  }

  std::string assignment() {
    static const Words some = {" min= ", " max= ", " |= ", " &= "};
    if (one_in(random_, 12)) return " += ";
    return one_in(random_, 15) ? pick(random_, some) : " = ";
  }

  std::string literal() {
    static const Words some = {"0", "0", "0.0", "1", "2", "3", "-1", "0.5", "2L", "0L", "0.25f", "true", "false"};
    return pick(random_, some);
  }

  std::string factor(const Words& variables) {
    switch (weighted(random_, {80, 5, 6, 3, 4, 2})) {
      case 0: return access(variables);
      case 1: return literal();
      case 2: return "(" + sum(variables, {10, 80, 10}) + ")";
      case 3: return "-" + access(variables);
      case 4: return function(variables);
      default: return explicit_sum(variables);
    }
  }
  std::string function(const Words& variables) {
    // Inside of functions only what is not summed: for others a sum has to be written out.
    Words held;
    for (const std::string& var : variables)
      if (std::find(left_.begin(), left_.end(), var) != left_.end()) held.push_back(var);
    std::string a = one_in(random_, 4) ? product(held) : access(held);
    static const Words rounding = {"floor", "ceil", "round"},
                       comparisons = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    auto b = [&] { return one_in(random_, 3) ? literal() : access(held); };
    switch (number(random_, 0, 8)) {
      case 0: return "abs(" + a + ")";
      case 3: return pick(random_, rounding) + "(" + a + ")";
      case 4: return "(" + a + pick(random_, comparisons) + b() + ")";
      case 5: return "(" + a + (one_in(random_, 2) ? " & " : " | ") + b() + ")";
      case 6: return "select(" + a + ", " + b() + ", " + access(held) + ")";
      case 7: return one_in(random_, 2) ? "map(" + a + ", abs)" : "map(" + a + ", max, " + b() + ")";
      case 1: return "max(" + a + ", " + (one_in(random_, 3) ? literal() : access(held)) + ")";
      default: return "min(" + a + ", " + (one_in(random_, 3) ? literal() : access(held)) + ")";
    }
  }
  std::string explicit_sum(const Words& variables) {
    static const Words others = {"min", "max", "any", "all"};
    return reduction(variables, one_in(random_, 2) ? "sum" : pick(random_, others), &Statement::product);
  }
  std::string reduction(const Words& variables, const std::string& how, std::string (Statement::*of)(const Words&)) {
    if (variables_.size() <= inside_.size() || inside_.size() > 4) return access(variables);
    std::string own = variables_[inside_.size()];
    Words with = variables;
    with.push_back(own);
    std::string body = (this->*of)(with);
    return body.find(own) == body.npos ? body : how + "(" + own + ", " + body + ")";
  }

  // Of powers of two sums may be anything, and quotients by them are rounded.
  std::string divisor(const Words& variables) {
    static const Words exact = {"prod", "min", "max", "any"};
    return one_in(random_, 5) ? reduction(variables, pick(random_, exact), &Statement::access) : access(variables);
  }
  std::string product(const Words& variables) {
    std::string out = factor(variables);
    for (size_t more = weighted(random_, {40, 40, 20}); more > 0; more--)
      out += one_in(random_, 14) ? " / " + divisor(variables) : " * " + factor(variables);
    return out;
  }
  std::string sum(const Words& variables, const std::vector<int>& terms) {
    std::string out = one_in(random_, 20) ? "-" + product(variables) : product(variables);
    if (depth_ > 2) return out;
    depth_++;
    for (size_t more = weighted(random_, terms); more > 0; more--)
      out += (one_in(random_, 3) ? " - " : " + ") + product(variables);
    depth_--;
    return out;
  }

  std::mt19937_64& random_;
  Words names_, variables_, left_, inside_;
  std::vector<Tensor> tensors_;
  Tensor result_;
  std::mt19937_64 of_windows_{random_};  // drawn apart: statements without any stay what they were
  bool windows_ = one_in(of_windows_, 5);
  int depth_ = 0;
};

}  // namespace

std::string draw_statement(std::mt19937_64& random) {
  std::mt19937_64 apart = random;
  if (one_in(apart, 20)) return random.discard(1), pick(apart, with_windows);
  if (one_in(apart, 20)) return random.discard(1), pick(apart, of_blocks);
  if (one_in(random, 3)) return pick(random, well_known);
  return Statement(random).text();
}

}  // namespace spdistal::test
