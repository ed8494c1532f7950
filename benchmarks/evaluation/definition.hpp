// Results of kernels by their definition, for some rows of each rank: what systems are compared with before they are timed.
#pragma once
#include <mpi.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "inputs.hpp"

namespace evaluation {

/// What a job works on.
struct Problem {
  std::string input;
  double scale;
  int rank, ranks;

  Rows rows(int shift = 0) const { return matrix(input, scale, ranks, rank, shift); }
  Entries entries() const { return tensor(input, scale, ranks, rank); }
  bool is_matrix() const { return !is_tensor(input); }
};

class Definition {
 public:
  /// Collective. Of a rank's rows (of matrices) or entries (of tensors), which outlive it.
  Definition(std::string kernel, const Problem& problem, const Rows& rows)
      : kernel_(std::move(kernel)), rows_(&rows), mine_(rows.rows) {
    if (kernel_ == "SpAdd3")
      for (int shift : {1, 2}) others_.push_back(problem.rows(shift));
    if (kernel_ == "SpGEMM" && problem.ranks > 1) others_.push_back(matrix(problem.input, problem.scale, 1, 0));
    choose();
  }
  Definition(std::string kernel, const Problem& problem, const Entries& entries)
      : kernel_(std::move(kernel)), entries_(&entries), mine_(block_of(entries.dims[0], problem.ranks, problem.rank)) {
    choose();
  }

  /// Local. An element of the result that this rank has, in whichever row.
  void take(int64_t row, int64_t column, double value) {
    if (row != last_) last_ = row, last_is_compared_ = compared_.count(row) > 0;
    if (last_is_compared_) taken_.push_back({double(row), double(column), value});
  }
  /// Collective. The largest difference relative to an element, over all ranks; 1 where one is missing.
  double difference() const {
    double most = 0;
    std::map<int64_t, Row> missing = expected_;
    for (auto [row, column, value] : over_all_ranks(taken_)) {
      auto at = missing.find(int64_t(row));
      if (at == missing.end()) continue;
      auto element = at->second.find(int64_t(column));
      bool there = element != at->second.end();
      double right = there ? element->second : 0;
      double off = right != 0 ? std::abs(value - right) / std::abs(right) : std::abs(value);
      most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
      if (there) at->second.erase(element);
    }
    for (const auto& [row, values] : missing)
      for (const auto& [column, value] : values)
        if (value != 0) most = std::max(most, 1.0);  // zeros need not be stored
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }
  int64_t rows() const { return int64_t(compared_.size()); }

 private:
  using Row = std::map<int64_t, double>;

  struct Element {
    double row, column, value;
  };
  template <class T>
  static std::vector<T> over_all_ranks(const std::vector<T>& own) {
    int ranks, bytes = int(own.size() * sizeof(T));
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<int> counts(static_cast<size_t>(ranks)), begins(static_cast<size_t>(ranks) + 1, 0);
    MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (size_t r = 0; r < counts.size(); r++) begins[r + 1] = begins[r] + counts[r];
    std::vector<T> out(size_t(begins.back()) / sizeof(T));
    MPI_Allgatherv(own.data(), bytes, MPI_BYTE, out.data(), counts.data(), begins.data(), MPI_BYTE, MPI_COMM_WORLD);
    return out;
  }

  // Up to a hundred rows from here and there, the first and the last, and the longest one, of each rank's.
  void choose() {
    choose_mine();
    std::vector<int64_t> rows;
    for (const auto& [row, values] : expected_) rows.push_back(row);
    for (int64_t row : over_all_ranks(rows)) compared_.insert(row);
  }
  void choose_mine() {
    if (mine_.size() == 0) return;
    int64_t longest = mine_.lo, most = -1;
    if (rows_)
      for (int64_t i = mine_.lo; i < mine_.hi; i++)
        if (int64_t length = rows_->pos[size_t(i - mine_.lo) + 1] - rows_->pos[size_t(i - mine_.lo)]; length > most)
          most = length, longest = i;
    expected_[longest] = row(longest);
    for (uint64_t k = 0; k < 100; k++) {
      int64_t i = mine_.lo + int64_t(chance(77, k) * double(mine_.size()));
      if (!expected_.count(i)) expected_[i] = row(i);
    }
    for (int64_t i : {mine_.lo, mine_.hi - 1}) expected_[i] = row(i);
  }

  template <class F>
  static void each_of_row(const Rows& rows, int64_t i, F&& f) {
    size_t local = size_t(i - rows.rows.lo);
    for (int64_t p = rows.pos[local]; p < rows.pos[local + 1]; p++)
      f(int64_t(rows.crd[size_t(p)]), rows.values[size_t(p)]);
  }

  Row row(int64_t i) const {
    Row out;
    if (entries_) return row_of_tensor(i);
    auto add = [&](int64_t j, double value) { out[j] += value; };
    if (kernel_ == "SpMV") {
      out[0] = 0;
      each_of_row(*rows_, i, [&](int64_t j, double b) { out[0] += b * dense_value(1, j, 0); });
    } else if (kernel_ == "SpMM") {
      for (int64_t k = 0; k < columns; k++) {
        double& sum = out[k] = 0;
        each_of_row(*rows_, i, [&](int64_t j, double b) { sum += b * dense_value(2, j, k); });
      }
    } else if (kernel_ == "SDDMM") {
      each_of_row(*rows_, i, [&](int64_t j, double b) {
        double sum = 0;
        for (int64_t k = 0; k < columns; k++) sum += dense_value(3, i, k) * dense_value(4, j, k);
        out[j] = b * sum;
      });
    } else if (kernel_ == "SpAdd3") {
      each_of_row(*rows_, i, add);
      for (const Rows& other : others_) each_of_row(other, i, add);
    } else {  // SpGEMM
      const Rows& all = others_.empty() ? *rows_ : others_[0];
      each_of_row(*rows_, i,
                  [&](int64_t k, double b) { each_of_row(all, k, [&](int64_t j, double c) { add(j, b * c); }); });
    }
    return out;
  }

  Row row_of_tensor(int64_t i) const {
    Row out;
    const auto& first = entries_->at[0];
    if (kernel_ == "SpMTTKRP")
      for (int64_t l = 0; l < columns; l++) out[l] = 0;
    auto begin = std::lower_bound(first.begin(), first.end(), i), end = std::upper_bound(first.begin(), first.end(), i);
    for (auto e = size_t(begin - first.begin()); e < size_t(end - first.begin()); e++) {
      int64_t j = entries_->at[1][e], k = entries_->at[2][e];
      double b = entries_->values[e];
      if (kernel_ == "SpTTV") out[j] += b * dense_value(5, k, 0);
      else
        for (int64_t l = 0; l < columns; l++) out[l] += b * dense_value(6, j, l) * dense_value(7, k, l);
    }
    return out;
  }

  std::string kernel_;
  const Rows* rows_ = nullptr;
  const Entries* entries_ = nullptr;
  Block mine_;
  std::vector<Rows> others_;
  std::map<int64_t, Row> expected_;
  std::set<int64_t> compared_;  // over all ranks
  std::vector<Element> taken_;
  int64_t last_ = -1;
  bool last_is_compared_ = false;
};

}  // namespace evaluation
