#include "support/random_program.hpp"

#include "notation/parse.hpp"
#include "reference/arithmetic.hpp"
#include "support/random_tensor.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

const std::vector<std::string> statements = {
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
};

bool is_constant_shift(const std::string& text) {
  return text.find("+ 2") != text.npos || text.find("max(B(i,j), 3)") != text.npos;
}

}  // namespace

RandomProgram draw_program(std::mt19937_64& random) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  const std::string& text = statements[size_t(number(0, int64_t(statements.size()) - 1))];
  bool first = true, dense_result = is_constant_shift(text) || text.find("+=") != text.npos;
  int64_t n = number(0, 9) == 0 ? number(0, 1) : number(2, 4);
  bool dense_only = number(0, 9) == 0;
  // Mostly doubles; sometimes one other type for all, or a mix of reals and integers with a result that holds them.
  int mixing = int(number(0, 9));
  ScalarType common = all_scalar_types[size_t(number(1, 6))];
  auto draw_type = [&]() -> ScalarType {
    if (mixing < 6) return ScalarType::Float64;
    if (mixing < 8) return common;
    return first ? ScalarType::Float64 : all_scalar_types[size_t(number(0, 4))];
  };
  Scope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (size_t d = 0; d < indices.size(); d++) {
      if (number(0, 1)) dims.push_back(n);
      else {
        Param p;
        p = n;
        dims.push_back(p);
      }
    }
    Format format = test::draw_format(random, indices.size());
    if ((first && dense_result) || dense_only) format = dense_format(indices.size());
    ScalarType type = draw_type();
    first = false;
    return TensorVar({Symbol(std::string(name.text)), type, dims, format});
  };
  std::optional<Assignment> drawn;
  try {
    drawn = parse_assignment(text, scope);
  } catch (const UserError&) {
    return draw_program(random);  // complex numbers have no order: another draw
  }
  Assignment assignment = *drawn;
  RandomProgram out{assignment, {}};
  for (const TensorVar& tensor : tensors(assignment)) {
    reference::Array array(tensor.type(), std::vector<int64_t>(tensor.order(), n));
    for (Scalar& value : array.values)
      if (tensor.format().is_dense() || number(0, 2) == 0)
        value = reference::convert(Scalar(double(number(-3, 3))), tensor.type());
    out.arrays.emplace(tensor, array);
  }
  return out;
}

}  // namespace spdistal::test
