#include "program/operations.hpp"

#include <map>
#include <set>

#include "reference/coordinate_map.hpp"
#include "runtime/records/deliver.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal {

using namespace notation;

namespace {

struct CountedProduct {
  std::vector<notation::Access> accesses;
  int factors = 0;
  std::set<IndexVar> sums;
};

// The products of a right side; false where there is something else in it.
bool products(const Expr& expr, const std::set<IndexVar>& sums, std::vector<CountedProduct>& out);

bool factors(const Expr& expr, CountedProduct& out) {
  if (const Neg* neg = expr.as<Neg>()) return factors(neg->a, out);
  if (const Binary* binary = expr.as<Binary>(); binary && binary->op == BinaryOp::Mul)
    return factors(binary->a, out) && factors(binary->b, out);
  if (const notation::Access* access = expr.as<notation::Access>()) out.accesses.push_back(*access);
  else if (!expr.is<Literal>() && !expr.is<Argument>()) return false;
  out.factors++;
  return true;
}

bool products(const Expr& expr, const std::set<IndexVar>& sums, std::vector<CountedProduct>& out) {
  if (const Neg* neg = expr.as<Neg>()) return products(neg->a, sums, out);
  if (const Reduction* sum = expr.as<Reduction>()) {
    if (sum->op != AssignOp::Add) return false;
    std::set<IndexVar> more = sums;
    more.insert(sum->var);
    return products(sum->body, more, out);
  }
  if (const Binary* binary = expr.as<Binary>(); binary && binary->op <= BinaryOp::Sub)
    return products(binary->a, sums, out) && products(binary->b, sums, out);
  out.push_back({{}, 0, sums});
  return factors(expr, out.back());
}

// The coordinates that an access stores, of those of its variables that are asked for: how often each stands there. Equal
// ones of all ranks are counted on one of them, which the coordinates tell.
using Occurrences = reference::CoordinateMap<double>;
Occurrences count_by(runtime::Transport& transport, const notation::Access& access, const Home& home,
                     const std::set<IndexVar>& by) {
  std::map<IndexVar, size_t> first;
  for (size_t d = 0; d < access.indices.size(); d++) first.emplace(access.indices[d], d);
  runtime::Records found(int(by.size()), ScalarType::Float64);
  runtime::together(transport, [&] {
    Occurrences mine(by.size());
    std::vector<int64_t> key(by.size());
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
      for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t) {
        for (size_t d = 0; d < at.size(); d++)
          if (at[d] != at[first.at(access.indices[d])]) return;  // B(i,i) reads the diagonal alone
        size_t k = 0;
        for (const IndexVar& var : by) key[k++] = at[first.at(var)];
        mine[key]++;
      });
    for (size_t n = 0; n < mine.size(); n++) found.add(mine.key(n), mine.value(n));
  });
  auto place = [&](std::span<const int64_t> at, int64_t, std::vector<int64_t>& to) {
    to.push_back(int64_t(reference::hash_of(at) % uint64_t(transport.size())));
  };
  Occurrences out(by.size());
  for (const runtime::Records& records : deliver(transport, std::move(found), transport.size(), place))
    for (int64_t k = 0; k < records.size(); k++) out[records.at(k)] += records.value_as<double>(k);
  return out;
}

}  // namespace

std::optional<double> count_operations(runtime::Transport& transport, const Assignment& assignment,
                                       const std::function<const Home&(const TensorVar&)>& home_of) {
  std::vector<CountedProduct> all;
  if (!windows(assignment).empty() || !products(with_reductions(assignment).rhs, {}, all)) return std::nullopt;
  std::map<IndexVar, double> sizes;
  auto measure = [&](const notation::Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++)
      sizes[access.indices[d]] = double(home_of(access.tensor).dims()[d]);
  };
  measure(assignment.lhs);
  each<notation::Access>(assignment.rhs, measure);

  double total = 0;
  for (size_t k = 0; k < all.size(); k++) {
    std::vector<notation::Access> sparse;
    for (const notation::Access& access : all[k].accesses)
      if (!access.tensor.format().is_dense()) sparse.push_back(access);
    if (sparse.size() > 2) return std::nullopt;
    std::vector<std::set<IndexVar>> vars;
    std::set<IndexVar> free = all[k].sums;
    free.insert(assignment.lhs.indices.begin(), assignment.lhs.indices.end());
    for (const notation::Access& access : sparse) {
      vars.emplace_back(access.indices.begin(), access.indices.end());
      for (const IndexVar& var : access.indices) free.erase(var);
    }
    double points = 1;
    for (const IndexVar& var : free) points *= sizes.at(var);
    if (sparse.size() == 1 && vars[0].size() == sparse[0].indices.size()) {
      points *= double(home_of(sparse[0].tensor).nnz());
    } else if (!sparse.empty()) {
      std::set<IndexVar> shared;
      for (const IndexVar& var : vars[0])
        if (sparse.size() == 2 && vars[1].contains(var)) shared.insert(var);
      Occurrences counts = count_by(transport, sparse[0], home_of(sparse[0].tensor), shared);
      double joined = 0;
      if (sparse.size() == 1) {
        joined = counts[{}];
      } else {
        Occurrences others = count_by(transport, sparse[1], home_of(sparse[1].tensor), shared);
        for (size_t n = 0; n < others.size(); n++)
          if (const double* times = counts.find(others.key(n))) joined += others.value(n) * *times;
      }
      points *= transport.allreduce(joined, runtime::ReduceOp::Sum);
    }
    bool adds = !all[k].sums.empty() || k > 0 || assignment.op == AssignOp::Add;
    total += points * (all[k].factors - 1 + (adds ? 1 : 0));
  }
  return total;
}

}  // namespace spdistal
