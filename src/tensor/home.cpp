#include "tensor/home.hpp"

#include <algorithm>

#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/nodes.hpp"

namespace spdistal {

Home::Home(runtime::Transport& transport, Format format, std::vector<int64_t> dims, ScalarType type, Shares shares,
           std::vector<Storage> pieces, std::vector<NodeEnds> ends)
    : type_(type), pieces_(std::move(pieces)) {
  auto plan = runtime::together(transport, [&] {
    check(shares, format, dims).value();
    Tree tree(format, dims);
    Shares simple = simplified(shares, format, dims);
    Range colours = runtime::Mapping(shares.grid.count(), transport.size()).colours_of(transport.rank());
    auto out = std::make_shared<Plan>(Plan{std::move(format),
                                           std::move(dims),
                                           std::move(tree),
                                           std::move(shares),
                                           std::move(simple),
                                           colours,
                                           {},
                                           {},
                                           {}});
    require(int64_t(pieces_.size()) == colours.size(), "a home has a piece for each colour of the rank");
    for (const Storage& piece : pieces_)
      require(piece.dims() == out->dims && piece.type() == type_ && piece.format().levels() == out->format.levels() &&
                  piece.format().mode_order() == out->format.mode_order(),
              "pieces are of the format, sizes and type of their tensor");
    find_owned(*out, pieces_);
    return out;
  });
  plan->counts = count_positions(transport, plan->simple, plan->format, plan->dims, plan->colours, pieces_);
  find_cuts(*plan, pieces_, ends);
  plan->version = transport.fresh_number();
  version_ = plan->version << 32;
  plan_ = plan;
  plan->elements = count_elements(transport);
}

// Positions of the last level are elements, but for places that are empty, and what lies between pieces.
int64_t Home::count_elements(runtime::Transport& transport) const {
  if (order() == 0) return 1;
  bool exact = std::none_of(format().levels().begin(), format().levels().end(), fills_between);
  if (exact && !leaves_places_empty(format())) return positions(order() - 1);
  int64_t count = 0;
  for (int64_t c = colours().lo; c < colours().hi; c++)
    for_each_owned(*this, c, [&](std::span<const int64_t>, int64_t) { count++; });
  return transport.allreduce(count, runtime::ReduceOp::Sum);
}

namespace {

// Of elements that are fused numbers in storage order: is the first or the last of a piece outside of its share?
bool reaches_beyond(const Share& share, const Storage& piece) {
  if (share.fused.empty() && !holds_nothing(share, piece.dims())) return false;
  if (piece.order() == 0 || piece.nnz() == 0) return false;
  auto is_outside = [&](int64_t position) {
    std::vector<int64_t> path = path_to(piece.pattern(), piece.order() - 1, position), at(path.size());
    for (size_t k = 0; k < path.size(); k++) at[size_t(piece.format().mode_order()[k])] = path[k];
    return !admits(share, piece.dims(), at);
  };
  return is_outside(0) || is_outside(piece.nnz() - 1);
}

}  // namespace

void Home::find_owned(Plan& plan, const std::vector<Storage>& pieces) {
  size_t tail = plan.tree.tail();
  // Levels that store more than what occurs may store what is another colour's.
  auto stores_more = [&](size_t dimension) {
    size_t level = plan.format.level_of(dimension);
    return level >= tail || fills_between(plan.format.levels()[level]);
  };
  ShareIndex index(plan.simple, plan.format, plan.dims, plan.dims.size());
  std::vector<int64_t> alike = first_alike(plan.simple);
  for (int64_t c = plan.colours.lo; c < plan.colours.hi; c++) {
    const Share& mine = plan.simple.of[size_t(c)];
    Owned& owned = plan.owned.emplace_back();
    for (size_t d = 0; d < plan.dims.size(); d++)
      owned.padded = owned.padded || (stores_more(d) && mine.coordinates[d].rect_count() > 1);
    for (const FusedRange& fused : mine.fused)
      owned.padded = owned.padded || std::any_of(fused.dims.begin(), fused.dims.end(), stores_more);
    for (const PositionBlock& split : mine.positions) owned.padded = owned.padded || split.level >= tail;
    owned.padded = owned.padded || reaches_beyond(mine, pieces[size_t(c - plan.colours.lo)]);
    owned.nothing = holds_nothing(mine, plan.dims) || alike[size_t(c)] != c;
    if (owned.nothing) continue;
    for (int64_t b : index.before(c)) {
      const Share& other = plan.simple.of[size_t(b)];
      if (holds_nothing(other, plan.dims) || !may_meet(other, mine, plan.format, plan.dims.size())) continue;
      if (covers(other, mine)) {
        owned.nothing = true;
        break;
      }
      owned.others.push_back(&other);
    }
  }
}

void Home::find_cuts(Plan& plan, const std::vector<Storage>& pieces, const std::vector<NodeEnds>& ends) {
  for (size_t i = 0; i < pieces.size(); i++) {
    Cuts& cuts = plan.cuts.emplace_back();
    for (const PositionBlock& split : plan.simple.of[size_t(plan.colours.lo) + i].positions)
      if (split.level >= plan.tree.tail())
        cuts.cuts.push_back({split.level, split.part.of(plan.counts.positions[split.level])});
    if (cuts.cuts.empty()) continue;
    if (plan.counts.ordered) {
      size_t end = plan.tree.counted().back().end;
      int64_t first = plan.counts.bases[i][end];
      cuts.ends = {first, first + pieces[i].pattern().level(end).positions - 1};
    } else {
      require(ends.size() == pieces.size(), "where nodes are cut, their numbers are known");
      cuts.ends = ends[i];
    }
  }
}

int64_t Home::base(int64_t colour, size_t level) const {
  require(ordered(), "the pieces of ordered homes, and no others, begin somewhere");
  return plan_->counts.bases[index(colour)][level];
}

bool Home::holds(int64_t colour, std::span<const int64_t> at, int64_t position) const {
  size_t i = index(colour);
  if (!plan_->owned[i].padded) return true;
  if (!admits(plan_->simple.of[size_t(colour)], dims(), at)) return false;
  const Cuts& cuts = plan_->cuts[i];
  if (cuts.cuts.empty()) return true;
  const Pattern& pattern = pieces_[i].pattern();
  const Tree& tree = plan_->tree;
  size_t counted = tree.counted().back().end;
  int64_t below = 1;
  for (size_t k = counted + 1; k < order(); k++) below *= pattern.level(k).range.size();
  int64_t node = position / below, nodes = pattern.level(counted).positions;
  // Only the first and the last node can be cut.
  if (node != 0 && node != nodes - 1) return true;
  std::vector<int64_t> path;
  for (int dimension : format().mode_order()) path.push_back(at[size_t(dimension)]);
  int64_t number = node == 0 ? cuts.ends.first : cuts.ends.last;
  return std::all_of(cuts.cuts.begin(), cuts.cuts.end(), [&](const Cut& cut) {
    return cut.positions.contains(number * tree.per_node(cut.level) + tree.offset(cut.level, path.data()));
  });
}

bool Home::owns(int64_t colour, std::span<const int64_t> at, int64_t position) const {
  const Owned& owned = plan_->owned[index(colour)];
  if (owned.nothing || !holds(colour, at, position)) return false;
  return std::none_of(owned.others.begin(), owned.others.end(),
                      [&](const Share* other) { return admits(*other, dims(), at); });
}

bool Home::owns_all(int64_t colour) const {
  const Owned& owned = plan_->owned[index(colour)];
  return !owned.nothing && !owned.padded && owned.others.empty();
}

bool Home::is_borrowed() const {
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Storage& piece) { return piece.is_borrowed(); });
}

Home Home::zeros_like(runtime::Transport& transport, ScalarType type) const {
  std::vector<Storage> pieces = runtime::together(transport, [&] {
    std::vector<Storage> out;
    for (const Storage& piece : pieces_) out.emplace_back(piece.shared_pattern(), type);
    return out;
  });
  return Home(plan_, type, std::move(pieces), transport.fresh_number() << 32);
}

Home Home::view() const {
  std::vector<Storage> pieces;
  for (const Storage& piece : pieces_) pieces.push_back(piece.view());
  return Home(plan_, type_, std::move(pieces), version_);
}

Home Home::clone(runtime::Transport& transport) const {
  std::vector<Storage> pieces = runtime::together(transport, [&] {
    std::vector<Storage> out;
    for (const Storage& piece : pieces_) out.push_back(piece.clone());
    return out;
  });
  return Home(plan_, type_, std::move(pieces), transport.fresh_number() << 32);
}

}  // namespace spdistal
