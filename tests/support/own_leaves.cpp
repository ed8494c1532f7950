#include "support/own_leaves.hpp"

#include <fmt/format.h>

#include <mutex>
#include <stdexcept>

#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "spdistal/leaf.hpp"

namespace spdistal::test {

namespace {

// An element of a dense tensor, by coordinates of the whole.
template <class T>
T& at(const LeafTensor& tensor, std::initializer_list<int64_t> coordinates) {
  int64_t position = 0;
  size_t k = 0;
  for (int64_t c : coordinates) {
    const LeafLevel& level = tensor.levels[k++];
    if (c < level.first || c >= level.first + level.extent)
      throw std::logic_error("beyond the piece of " + tensor.name);
    position += (c - level.first) * level.stride;
  }
  return tensor.as<T>()[position];
}

struct Span {
  int64_t lo, hi;
};
Span span(const LeafTensor& tensor, size_t level) {
  const LeafLevel& l = tensor.levels[level];
  return {l.first, l.first + l.extent};
}
void each(Span span, const std::function<void(int64_t)>& f) {
  for (int64_t c = span.lo; c < span.hi; c++) f(c);
}

// Calls f(row, column, position) for what a matrix in CSR stores.
void each_stored(const LeafTensor& B, const std::function<void(int64_t, int64_t, int64_t)>& f) {
  const LeafArray &pos = B.levels[1].array("pos"), &crd = B.levels[1].array("crd");
  if (pos.count != B.levels[0].extent + 1) throw std::logic_error("as many rows as there are positions of them");
  each(span(B, 0), [&](int64_t i) {
    int64_t row = i - B.levels[0].first;
    for (int64_t p = pos[row]; p < pos[row + 1]; p++) f(i, crd[p], p);
  });
}

template <class F>
std::function<void(const LeafPiece&)> typed(F f) {
  return [f](const LeafPiece& piece) {
    with_type(piece[0].type, [&](auto zero) {
      if (piece.start == LeafStart::Overwrite) {
        // Whatever was there: it does not count.
        if (piece[0].levels.empty() || piece[0].levels.back().arrays.empty()) {
          std::function<void(size_t, int64_t)> clear = [&](size_t k, int64_t position) {
            if (k == piece[0].levels.size()) {
              piece[0].as<decltype(zero)>()[position] = zero;
              return;
            }
            for (int64_t c = 0; c < piece[0].levels[k].extent; c++)
              clear(k + 1, position + c * piece[0].levels[k].stride);
          };
          clear(0, 0);
        } else {
          for (int64_t p = 0; p < piece[0].count; p++) piece[0].as<decltype(zero)>()[p] = zero;
        }
      }
      f(piece, zero);
    });
  };
}

const auto gemm = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"];
  each(span(A, 0), [&](int64_t i) {
    each(span(A, 1), [&](int64_t j) {
      each(span(B, 1), [&](int64_t k) { at<T>(A, {i, j}) += at<T>(B, {i, k}) * at<T>(C, {k, j}); });
    });
  });
};
const auto spmv = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  const LeafTensor &a = piece["a"], &B = piece["B"], &c = piece["c"];
  each_stored(B, [&](int64_t i, int64_t j, int64_t p) { at<T>(a, {i}) += B.as<T>()[p] * at<T>(c, {j}); });
};
const auto spmm = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"];
  each_stored(B, [&](int64_t i, int64_t k, int64_t p) {
    each(span(A, 1), [&](int64_t j) { at<T>(A, {i, j}) += B.as<T>()[p] * at<T>(C, {k, j}); });
  });
};
const auto sddmm = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"], &D = piece["D"];
  each_stored(B, [&](int64_t i, int64_t j, int64_t p) {
    each(span(C, 1), [&](int64_t k) { A.as<T>()[p] += B.as<T>()[p] * at<T>(C, {i, k}) * at<T>(D, {k, j}); });
  });
};
const auto copy_vector = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  each(span(piece["a"], 0), [&](int64_t i) { at<T>(piece["a"], {i}) += at<T>(piece["b"], {i}); });
};
const auto copy_matrix = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  each(span(piece["A"], 0), [&](int64_t i) {
    each(span(piece["A"], 1), [&](int64_t j) { at<T>(piece["A"], {i, j}) += at<T>(piece["B"], {i, j}); });
  });
};
const auto multiply_vectors = [](const LeafPiece& piece, auto zero) {
  using T = decltype(zero);
  each(span(piece["a"], 0),
       [&](int64_t i) { at<T>(piece["a"], {i}) += at<T>(piece["b"], {i}) * at<T>(piece["c"], {i}); });
};

const std::vector<ScalarType> numbers = {ScalarType::Int32,   ScalarType::Int64,     ScalarType::Float32,
                                         ScalarType::Float64, ScalarType::Complex64, ScalarType::Complex128};

}  // namespace

void register_own_leaves() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto own = [](const char* statement, std::vector<std::string> formats, std::function<void(const LeafPiece&)> run,
                  const char* name = "own", Processor processor = CPU) {
      register_leaf({name, statement, std::move(formats), numbers, processor, std::move(run)});
    };
    own("A(i,j) = B(i,k) * C(k,j)", {}, typed(gemm));
    own("a(i) = b(i)", {}, typed(copy_vector));
    own("A(i,j) = B(i,j)", {}, typed(copy_matrix));
    own("a(i) = b(i) * c(i)", {}, typed(multiply_vectors));
    own("a(i) = B(i,j) * c(j)", {"B:ds"}, typed(spmv));
    own("A(i,j) = B(i,k) * C(k,j)", {"B:ds"}, typed(spmm));
    own("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}, typed(sddmm));
    own("A(i,j) = B(i,k) * C(k,j)", {}, typed(gemm), "own_gpu", GPU);
    own("a(i) = B(i,j) * c(j)", {"B:ds"}, typed(spmv), "own_gpu", GPU);
    own("A(i,j) = B(i,k) * C(k,j)", {"B:ds"}, typed(spmm), "own_gpu", GPU);
    own("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}, typed(sddmm), "own_gpu", GPU);
  });
}

// ---- any loops over dense tensors ----

namespace {

using namespace notation;

// The statement with a tensor of its own, t0, t1, …, for every access.
Assignment with_own_tensors(const Assign& assign) {
  int count = 0;
  auto own = [&](const notation::Access& access) {
    return notation::Access{TensorVar({Symbol("t" + std::to_string(count++)), access.tensor.type(),
                                       access.tensor.dims(), dense_format(access.indices.size())}),
                            access.indices};
  };
  notation::Access lhs = own(assign.lhs);
  Expr rhs = rewrite(assign.rhs, [&](const notation::Access& access) -> Expr { return own(access); });
  for (const IndexVar& var : variables(rhs))
    if (assign.op != AssignOp::Set && !uses(lhs, var)) rhs = Reduction{assign.op, var, rhs};
  return {lhs, AssignOp::Set, rhs};
}

// Calls f(coordinates from 0 on, where the element stands) for every element of a dense piece.
void each_element(const LeafTensor& tensor, const std::function<void(const std::vector<int64_t>&, int64_t)>& f) {
  std::vector<int64_t> at(tensor.levels.size());
  std::function<void(size_t, int64_t)> nest = [&](size_t k, int64_t position) {
    if (k == at.size()) return f(at, position);
    for (at[k] = 0; at[k] < tensor.levels[k].extent; at[k]++) nest(k + 1, position + at[k] * tensor.levels[k].stride);
  };
  nest(0, 0);
}

void evaluate_piece(Assignment assignment, AssignOp op, const LeafPiece& piece) {
  reference::Arrays arrays;
  auto read = [&](const notation::Access& access) {
    const LeafTensor& tensor = piece[Printer().name(access.tensor)];
    std::vector<int64_t> dims;
    for (const LeafLevel& level : tensor.levels) dims.push_back(level.extent);
    reference::DenseArray array(tensor.type, dims);
    with_type(tensor.type, [&](auto zero) {
      each_element(tensor, [&](const std::vector<int64_t>& at, int64_t position) {
        array.at(at) = Scalar(tensor.as<decltype(zero)>()[position]);
      });
    });
    arrays.emplace(access.tensor, std::move(array));
  };
  read(assignment.lhs);
  each<notation::Access>(assignment.rhs, read);
  if (piece.start == LeafStart::Combine) assignment.op = op;
  reference::evaluate(assignment, arrays);
  const reference::DenseArray& result = arrays.at(assignment.lhs.tensor);
  with_type(piece[0].type, [&](auto zero) {
    each_element(piece[0], [&](const std::vector<int64_t>& at, int64_t position) {
      Scalar value = result.at(at);
      piece[0].as<decltype(zero)>()[position] = std::get<decltype(zero)>(static_cast<const ScalarVariant&>(value));
    });
  });
}

const bool registered = (register_own_leaves(), true);  // programs that tests print and read again name them

}  // namespace

std::string own_leaf_for(const ConcreteStatement& statement) {
  register_own_leaves();
  Stmt body = statement.body;
  while (const Forall* loop = body.as<Forall>()) body = loop->body;
  const Assign* assign = body.as<Assign>();
  if (!assign) return "own";
  bool dense = assign->lhs.tensor.format().is_dense() && !has_windows(assign->lhs);
  each<notation::Access>(assign->rhs, [&](const notation::Access& a) {
    dense = dense && a.tensor.format().is_dense() && !has_windows(a);
  });
  if (!dense) return "own";
  Assignment own = with_own_tensors(*assign);
  std::string text = print(own), name = fmt::format("fitting_{:x}", std::hash<std::string>{}(text));
  try {
    register_leaf({.name = name, .statement = text, .run = [own, op = assign->op](const LeafPiece& piece) {
                     evaluate_piece(own, op, piece);
                   }});
  } catch (const UserError&) {
    return "own";  // it takes a temporary, or says nothing on its own
  }
  return name;
}

}  // namespace spdistal::test
