#include "reference/windows.hpp"

#include <algorithm>
#include <map>

namespace spdistal::reference {

using namespace notation;

namespace {

// As many values as there is room for in all accesses.
std::map<IndexVar, int64_t> sizes_of(const Assignment& assignment, const EntryTable& tensors) {
  std::map<IndexVar, int64_t> out;
  auto measure = [&](const Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++) {
      const Window* window = access.indices[d].window();
      if (window && !window->of) continue;
      int64_t room = tensors.at(access.tensor).dims[d];
      if (window) {
        int64_t end = window->end.value_or(room);
        for (room = 0; window->offset + room * window->stride < end;) room++;
      }
      auto [known, fresh] = out.emplace(window ? *window->of : access.indices[d], room);
      known->second = std::min(known->second, room);
    }
  };
  measure(assignment.lhs);
  each<Access>(assignment.rhs, measure);
  return out;
}

// The value of a variable for which an index takes this coordinate; none where it takes others.
std::optional<int64_t> value_at(const IndexVar& index, int64_t coordinate) {
  const Window* window = index.window();
  if (!window) return coordinate;
  int64_t distance = coordinate - window->offset;
  if (!window->of) return distance == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (distance < 0 || distance % window->stride != 0) return std::nullopt;
  return distance / window->stride;
}

class Taking {
 public:
  Taking(const Access& access, const std::map<IndexVar, int64_t>& sizes) : access_(access), vars_(variables(access)) {
    for (const IndexVar& var : vars_) dims_.push_back(sizes.at(var));
  }

  EntryList from(const EntryList& all) const {
    EntryList out{dims_};
    std::vector<int64_t> values(vars_.size());
    for (size_t n = 0; n < all.size(); n++) {
      if (!takes(all.at(n), values)) continue;
      out.coordinates.insert(out.coordinates.end(), values.begin(), values.end());
      out.values.push_back(all.values[n]);
    }
    return out;
  }
  Access of(const std::vector<Extent>& extents) const {
    const TensorVar& whole = access_.tensor;
    Format format = Format(std::vector<LevelFormat>(vars_.size(), Compressed)).filled(whole.fill());
    return {TensorVar({Symbol(whole.symbol().name()), whole.type(), extents, format}), vars_};
  }
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  bool takes(std::span<const int64_t> at, std::vector<int64_t>& values) const {
    std::fill(values.begin(), values.end(), -1);
    for (size_t d = 0; d < at.size(); d++) {
      std::optional<int64_t> value = value_at(access_.indices[d], at[d]);
      if (!value) return false;
      std::optional<IndexVar> var = variable_of(access_.indices[d]);
      if (!var) continue;
      auto place = size_t(std::find(vars_.begin(), vars_.end(), *var) - vars_.begin());
      if (*value >= dims_[place] || (values[place] >= 0 && values[place] != *value)) return false;
      values[place] = *value;
    }
    return true;
  }

  Access access_;
  std::vector<IndexVar> vars_;
  std::vector<int64_t> dims_;
};

}  // namespace

WithoutWindows without_windows(const Assignment& assignment, const EntryTable& tensors) {
  std::map<IndexVar, int64_t> sizes = sizes_of(assignment, tensors);
  WithoutWindows out{assignment, {}};
  out.tensors.emplace(assignment.lhs.tensor, tensors.at(assignment.lhs.tensor));
  out.assignment.rhs = rewrite(assignment.rhs, [&](const Access& access) -> Expr {
    Taking taking(access, sizes);
    Access taken = taking.of({taking.dims().begin(), taking.dims().end()});
    out.tensors.emplace(taken.tensor, taking.from(tensors.at(access.tensor)));
    return taken;
  });
  return out;
}

}  // namespace spdistal::reference
