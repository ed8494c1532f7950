// Loops written by hand, with OpenMP: what a careful programmer has without a library. One rank.
#include <atomic>
#include <memory>
#include <optional>

#include "contest.hpp"

using namespace evaluation;

namespace {

using Dense = std::shared_ptr<std::vector<double>>;
Dense dense(int64_t rows, int64_t width, int number) {
  auto out = std::make_shared<std::vector<double>>(size_t(rows * width));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < width; k++) (*out)[size_t(i * width + k)] = dense_value(number, i, k);
  return out;
}
Dense zeros(int64_t count) { return std::make_shared<std::vector<double>>(size_t(count)); }

double weighed(const std::vector<double>& values, int64_t width) {
  double out = 0;
  for (size_t e = 0; e < values.size(); e++)
    out += values[e] * weight(uint64_t(e) / uint64_t(width), uint64_t(e) % uint64_t(width));
  return out;
}
double weighed(const Rows& rows) {
  double out = 0;
  for (int64_t i = 0; i < rows.count(); i++)
    for (int64_t p = rows.pos[size_t(i)]; p < rows.pos[size_t(i) + 1]; p++)
      out += rows.values[size_t(p)] * weight(uint64_t(i), uint64_t(rows.crd[size_t(p)]));
  return out;
}
Job sparse(std::shared_ptr<Rows> result, std::function<void()> run) {
  return {{}, std::move(run), [=] { return weighed(*result); }, [=] { return double(result->crd.size()); }};
}

// Counts each row, makes room, fills each row: walk(row, what is done with a column and a value).
template <class Walk>
void assemble(Rows& out, int64_t n, Walk&& walk) {
  out.n = n, out.rows = {0, n};
  out.pos.assign(size_t(n) + 1, 0);
#pragma omp parallel
  {
    auto each = walk();
#pragma omp for schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
      int64_t count = 0;
      each(i, [&](int32_t, double) { count++; });
      out.pos[size_t(i) + 1] = count;
    }
  }
  for (int64_t i = 0; i < n; i++) out.pos[size_t(i) + 1] += out.pos[size_t(i)];
  out.crd.resize(size_t(out.pos.back()));
  out.values.resize(size_t(out.pos.back()));
#pragma omp parallel
  {
    auto each = walk();
#pragma omp for schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
      int64_t p = out.pos[size_t(i)];
      each(i, [&](int32_t column, double value) { out.crd[size_t(p)] = column, out.values[size_t(p++)] = value; });
    }
  }
}

// A tensor as a tree: rows, fibres, entries.
struct Tree {
  int64_t dims[3];
  std::vector<int64_t> rows, fibres;  // where the children of each begin
  std::vector<int32_t> second, third;
  std::vector<double> values;
};

class Loops : public System {
 public:
  const char* name() const override { return "loops"; }
  void bring(const Rows& rows) override { B_ = rows; }
  void bring(const Entries& entries) override {
    T_ = Tree{{entries.dims[0], entries.dims[1], entries.dims[2]}, {0}, {}, {}, {}, entries.values};
    for (size_t e = 0; e < entries.values.size(); e++) {
      bool fresh = e == 0 || entries.at[0][e] != entries.at[0][e - 1] || entries.at[1][e] != entries.at[1][e - 1];
      if (fresh) {
        T_.fibres.push_back(int64_t(e));
        T_.second.push_back(int32_t(entries.at[1][e]));
      }
      while (int64_t(T_.rows.size()) <= entries.at[0][e]) T_.rows.push_back(int64_t(T_.second.size()) - 1);
      T_.third.push_back(int32_t(entries.at[2][e]));
    }
    while (int64_t(T_.rows.size()) <= entries.dims[0]) T_.rows.push_back(int64_t(T_.second.size()));
    T_.fibres.push_back(int64_t(entries.values.size()));
  }
  void drop() override { B_ = {}, T_ = {}; }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    const int32_t* crd = B_.crd.data();
    const int64_t *pos = B_.pos.data(), n = B_.n;
    const double* values = B_.values.data();
    if (kernel == "SpMV") {
      Dense c = dense(n, 1, 1), a = zeros(n);
      return {{},
              [=] {
                const double* x = c->data();
                double* y = a->data();
#pragma omp parallel for schedule(static)
                for (int64_t i = 0; i < n; i++) {
                  double sum = 0;
                  for (int64_t p = pos[i]; p < pos[i + 1]; p++) sum += values[p] * x[crd[p]];
                  y[i] = sum;
                }
              },
              [=] { return weighed(*a, 1); }};
    }
    if (kernel == "SpMM") {
      Dense C = dense(n, columns, 2), A = zeros(n * columns);
      return {{},
              [=] {
                const double* x = C->data();
                double* y = A->data();
#pragma omp parallel for schedule(dynamic, 256)
                for (int64_t i = 0; i < n; i++) {
                  double sum[columns] = {};
                  for (int64_t p = pos[i]; p < pos[i + 1]; p++)
                    for (int k = 0; k < columns; k++) sum[k] += values[p] * x[int64_t(crd[p]) * columns + k];
                  for (int k = 0; k < columns; k++) y[i * columns + k] = sum[k];
                }
              },
              [=] { return weighed(*A, columns); }};
    }
    if (kernel == "SDDMM") {
      Dense C = dense(n, columns, 3), D = dense(n, columns, 4);
      auto A = std::make_shared<Rows>(B_);
      return sparse(A, [=] {
        const double *x = C->data(), *y = D->data();
        double* out = A->values.data();
#pragma omp parallel for schedule(dynamic, 256)
        for (int64_t i = 0; i < n; i++)
          for (int64_t p = pos[i]; p < pos[i + 1]; p++) {
            double sum = 0;
            for (int k = 0; k < columns; k++) sum += x[i * columns + k] * y[int64_t(crd[p]) * columns + k];
            out[p] = values[p] * sum;
          }
      });
    }
    if (kernel == "SpAdd3") return add_three(problem);
    if (kernel == "SpGEMM") return multiply();
    if (kernel == "SpTTV") {
      Dense c = dense(T_.dims[2], 1, 5), a = zeros(int64_t(T_.second.size()));
      return {{},
              [=, this] {
                const double* x = c->data();
#pragma omp parallel for schedule(static)
                for (int64_t f = 0; f < int64_t(T_.second.size()); f++) {
                  double sum = 0;
                  for (int64_t p = T_.fibres[size_t(f)]; p < T_.fibres[size_t(f) + 1]; p++)
                    sum += T_.values[size_t(p)] * x[T_.third[size_t(p)]];
                  (*a)[size_t(f)] = sum;
                }
              },
              [=, this] {
                double out = 0;
                for (int64_t i = 0; i < T_.dims[0]; i++)
                  for (int64_t f = T_.rows[size_t(i)]; f < T_.rows[size_t(i) + 1]; f++)
                    out += (*a)[size_t(f)] * weight(uint64_t(i), uint64_t(T_.second[size_t(f)]));
                return out;
              },
              [=] { return double(a->size()); }};
    }
    Dense C = dense(T_.dims[1], columns, 6), D = dense(T_.dims[2], columns, 7), A = zeros(T_.dims[0] * columns);
    return {{},
            [=, this] {
#pragma omp parallel for schedule(dynamic, 16)
              for (int64_t i = 0; i < T_.dims[0]; i++) {
                double row[columns] = {};
                for (int64_t f = T_.rows[size_t(i)]; f < T_.rows[size_t(i) + 1]; f++) {
                  double sum[columns] = {};
                  for (int64_t p = T_.fibres[size_t(f)]; p < T_.fibres[size_t(f) + 1]; p++)
                    for (int l = 0; l < columns; l++)
                      sum[l] += T_.values[size_t(p)] * (*D)[size_t(T_.third[size_t(p)]) * columns + size_t(l)];
                  for (int l = 0; l < columns; l++)
                    row[l] += sum[l] * (*C)[size_t(T_.second[size_t(f)]) * columns + size_t(l)];
                }
                for (int l = 0; l < columns; l++) (*A)[size_t(i * columns + l)] = row[l];
              }
            },
            [=] { return weighed(*A, columns); }};
  }

 private:
  Job add_three(const Problem& problem) {
    auto A = std::make_shared<Rows>(), C = std::make_shared<Rows>(problem.rows(1)),
         D = std::make_shared<Rows>(problem.rows(2));
    return sparse(A, [=, this] {
      assemble(*A, B_.n, [&] {
        return [&](int64_t i, auto&& take) {
          const Rows* operands[3] = {&B_, C.get(), D.get()};
          int64_t p[3], end[3];
          for (int o = 0; o < 3; o++) p[o] = operands[o]->pos[size_t(i)], end[o] = operands[o]->pos[size_t(i) + 1];
          for (;;) {
            int32_t column = INT32_MAX;
            for (int o = 0; o < 3; o++)
              if (p[o] < end[o]) column = std::min(column, operands[o]->crd[size_t(p[o])]);
            if (column == INT32_MAX) return;
            double sum = 0;
            for (int o = 0; o < 3; o++)
              if (p[o] < end[o] && operands[o]->crd[size_t(p[o])] == column) sum += operands[o]->values[size_t(p[o]++)];
            take(column, sum);
          }
        };
      });
    });
  }

  Job multiply() {
    auto A = std::make_shared<Rows>();
    return sparse(A, [=, this] {
      assemble(*A, B_.n, [&] {
        // A row of the result, dense, and which of it is there: one for each thread.
        return [&, row = std::vector<double>(size_t(B_.n)), there = std::vector<char>(size_t(B_.n)),
                list = std::vector<int32_t>()](int64_t i, auto&& take) mutable {
          list.clear();
          for (int64_t p = B_.pos[size_t(i)]; p < B_.pos[size_t(i) + 1]; p++)
            for (int64_t k = B_.crd[size_t(p)], q = B_.pos[size_t(k)]; q < B_.pos[size_t(k) + 1]; q++) {
              auto column = size_t(B_.crd[size_t(q)]);
              if (!there[column]) there[column] = 1, row[column] = 0, list.push_back(int32_t(column));
              row[column] += B_.values[size_t(p)] * B_.values[size_t(q)];
            }
          std::sort(list.begin(), list.end());
          for (int32_t column : list) there[size_t(column)] = 0, take(column, row[size_t(column)]);
        };
      });
    });
  }

  Rows B_;
  Tree T_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Loops system;
  Contest(argc, argv).run(system);
  MPI_Finalize();
}
