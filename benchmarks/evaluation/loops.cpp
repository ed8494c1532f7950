// Loops written by hand, with OpenMP: what a careful programmer has without a library, for the same formats, all arrays on huge
// pages. One rank.
#include <limits>
#include <memory>

#include "contest.hpp"
#include "hand/hand.hpp"

using namespace evaluation;

namespace {

// A copy in memory that has huge pages.
template <class T>
class Array {
 public:
  Array() = default;
  template <class From>
  explicit Array(const From& from) : Array(int64_t(from.size())) {
    for (size_t k = 0; k < from.size(); k++) data()[k] = T(from[k]);
  }
  explicit Array(int64_t count) : count_(count), memory_(std::make_shared<hand::Memory>()) {
    data_ = static_cast<T*>(memory_->room(size_t(count) * sizeof(T)));
  }
  T* data() const { return data_; }
  int64_t size() const { return count_; }

 private:
  int64_t count_ = 0;
  T* data_ = nullptr;
  std::shared_ptr<hand::Memory> memory_;
};

void check_size(size_t stored) {
  if (stored > size_t(std::numeric_limits<int32_t>::max()))
    throw std::invalid_argument("the loops have indices of 32 bits");
}

struct Sparse {
  int64_t rows = 0, cols = 0;
  Array<int32_t> pos, crd;
  Array<double> values;

  Sparse() = default;
  explicit Sparse(const Rows& from) : rows(from.n), cols(from.m) {
    check_size(from.crd.size());
    pos = Array<int32_t>(from.pos), crd = Array<int32_t>(from.crd), values = Array<double>(from.values);
  }
  hand::Csr view() const { return {rows, cols, pos.data(), crd.data(), values.data()}; }
};

// A tensor as a tree: rows, fibres, entries.
struct Tree {
  int64_t dims[3] = {0, 0, 0};
  Array<int32_t> pos1, crd1, pos2, crd2;
  Array<double> values;

  Tree() = default;
  explicit Tree(const Entries& from) : dims{from.dims[0], from.dims[1], from.dims[2]}, values(from.values) {
    check_size(from.values.size());
    std::vector<int32_t> rows(size_t(dims[0]) + 1, 0), second, fibres;
    for (size_t e = 0; e < from.values.size(); e++)
      if (e == 0 || from.at[0][e] != from.at[0][e - 1] || from.at[1][e] != from.at[1][e - 1]) {
        fibres.push_back(int32_t(e));
        second.push_back(int32_t(from.at[1][e]));
        rows[size_t(from.at[0][e]) + 1]++;
      }
    fibres.push_back(int32_t(from.values.size()));
    for (size_t i = 0; i < size_t(dims[0]); i++) rows[i + 1] += rows[i];
    pos1 = Array<int32_t>(rows), crd1 = Array<int32_t>(second), pos2 = Array<int32_t>(fibres);
    crd2 = Array<int32_t>(from.at[2]);
  }
  hand::Csf view() const { return {dims[0], pos1.data(), crd1.data(), pos2.data(), crd2.data(), values.data()}; }
};

// A dense operand.
class Dense {
 public:
  Dense(int64_t rows, int64_t width, int number) : rows_(rows), width_(width), number_(number), values_(rows * width) {
    change(0);
  }
  const double* data() const { return values_.data(); }
  void change(int round) const {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows_; i++)
      for (int64_t k = 0; k < width_; k++) values_.data()[i * width_ + k] = dense_value(number_, i, k, round);
  }

 private:
  int64_t rows_, width_;
  int number_;
  Array<double> values_;
};

using Made = std::shared_ptr<hand::Made>;

class Loops : public System {
 public:
  const char* name() const override { return "loops"; }
  std::string version() const override { return "g++ " __VERSION__; }
  void bring(const Rows& rows) override { B_ = Sparse(rows); }
  void bring(const Entries& entries) override { T_ = Tree(entries); }
  void drop() override { B_ = {}, T_ = {}; }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    Made A = std::make_shared<hand::Made>();
    const int64_t n = B_.rows, m = B_.cols;
    const hand::Csr b = B_.view();
    if (kernel == "SpMV") {
      Dense c(m, 1, 1);
      return dense_result(A, n, 1, {c}, [=] { hand::spmv(b, c.data(), *A); });
    }
    if (kernel == "SpMM") {
      Dense C(m, columns, 2);
      return dense_result(A, n, columns, {C}, [=] { hand::spmm(b, C.data(), *A); });
    }
    if (kernel == "SDDMM") {
      Dense C(n, columns, 3), D(m, columns, 4);
      return {changing({C, D}),
              {},
              [=] { hand::sddmm(b, C.data(), D.data(), *A); },
              [=](const Visit& visit) { each(n, b.pos, b.crd, A->vals, visit); }};
    }
    if (kernel == "SpAdd3") {
      Sparse C(problem.rows(1)), D(problem.rows(2));
      return sparse_result(A, n, [=] { hand::spadd3(b, C.view(), D.view(), *A); });
    }
    if (kernel == "SpGEMM") return sparse_result(A, n, [=] { hand::spgemm(b, b, *A); });
    const hand::Csf t = T_.view();
    if (kernel == "SpTTV") {
      Dense c(T_.dims[2], 1, 5);
      return {changing({c}),
              {},
              [=] { hand::spttv(t, c.data(), *A); },
              [=](const Visit& visit) { each(t.rows, t.pos1, t.crd1, A->vals, visit); }};
    }
    Dense C(T_.dims[1], columns, 6), D(T_.dims[2], columns, 7);
    return dense_result(A, t.rows, columns, {C, D}, [=] { hand::spmttkrp(t, C.data(), D.data(), *A); });
  }

 private:
  static std::function<void(int)> changing(std::vector<Dense> operands) {
    return [=](int round) {
      for (const Dense& operand : operands) operand.change(round);
    };
  }
  static void each(int64_t rows, const int32_t* pos, const int32_t* crd, const double* values, const Visit& visit) {
    for (int64_t i = 0; i < rows; i++)
      for (int32_t p = pos[i]; p < pos[i + 1]; p++) visit(i, crd[p], values[p]);
  }
  static Job dense_result(Made A, int64_t rows, int64_t width, std::vector<Dense> operands, std::function<void()> run) {
    return {changing(std::move(operands)), {}, std::move(run), [=](const Visit& visit) {
              for (int64_t i = 0; i < rows; i++)
                for (int64_t k = 0; k < width; k++) visit(i, k, A->vals[i * width + k]);
            }};
  }
  // Its memory serves the next run, too.
  static Job sparse_result(Made A, int64_t rows, std::function<void()> run) {
    return {{}, {}, std::move(run), [=](const Visit& visit) { each(rows, A->pos, A->crd, A->vals, visit); }};
  }

  Sparse B_;
  Tree T_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Loops system;
  Contest(argc, argv).run(system);
  MPI_Finalize();
}
