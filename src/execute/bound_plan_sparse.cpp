// Running a plan with a sparse result: pieces are assembled, and stay where they are or are merged by coordinate at their
// owners.
#include "execute/bound_plan.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

void take_values(Home& home, std::vector<Storage> made) {
  for (size_t k = 0; k < made.size(); k++) {
    Storage& piece = home.piece(home.colours().lo + int64_t(k));
    ScalarType type = made[k].type();
    piece = Storage(piece.shared_pattern(), type, std::move(made[k]).take_values());
  }
  home.changed();
}

}  // namespace

void BoundPlan::compute_sparse(const Homes& operands, std::optional<Home>& result) {
  exchanging([&] { fetches_.finish(); });
  const Format& format = result_var().format();
  Coordinates entries(result_dims_, result_var().type());
  std::vector<Storage> made;
  if (!stays_)
    stays_ = tasks_->steps().size() == 1 && !by_steps() && writes_ && !tasks_->everywhere() && matches_home();
  for (const Step& step : tasks_->steps()) {
    exchanging([&] { fetches_.fetch(operands, step); });
    if (by_steps()) plan_targets(step);
    first_.together([&] {
      for (int64_t c = colours().lo; c < colours().hi; c++) {
        if (tasks_->is_idle(c, step)) {
          if (*stays_) made.push_back(pack(Coordinates(result_dims_, result_var().type()), format, target(c).ranges));
          continue;
        }
        timed(c, [&] {
          Storage piece = launcher_.compute(target(c).ranges, {c, step});
          if (*stays_) return made.push_back(std::move(piece));
          notes_.packed[size_t(c - colours().lo)] += piece.nnz() * int64_t(size_of(piece.type()));
          entries.append(unpack(piece));
        });
      }
    });
  }
  exchanging([&] {
    std::optional<Home> fresh;
    if (!*stays_) {
      runtime::Sending results(transport_.sent(), program_.plan.accesses[0].tensor, runtime::Cargo::Results);
      fresh = tasks_->everywhere() ? scatter(transport_, pack(std::move(entries), format), result_shares_)
                                   : pack(transport_, std::move(entries), format, result_shares_);
      for (int64_t q = fresh->colours().lo; q < fresh->colours().hi; q++) made.push_back(std::move(fresh->piece(q)));
    }
    if (keeps_patterns(result, made)) {
      take_values(*result, std::move(made));
    } else if (!fresh) {
      result.emplace(transport_, format, result_dims_, result_var().type(), result_shares_, std::move(made));
    } else {
      for (size_t k = 0; k < made.size(); k++) fresh->piece(fresh->colours().lo + int64_t(k)) = std::move(made[k]);
      result = std::move(fresh);
    }
  });
}

// Collective. Does the result store what it stored before? Then who reads it need not look again.
bool BoundPlan::keeps_patterns(const std::optional<Home>& old, const std::vector<Storage>& made) {
  bool same = old && old->shares() == result_shares_ && size_t(old->colours().size()) == made.size();
  for (size_t k = 0; k < made.size() && same; k++)
    same = same_pattern(made[k].pattern(), old->piece(old->colours().lo + int64_t(k)).pattern());
  return on_all_ranks(same);
}

// Collective. Are the pieces that colours compute just those of the result's home?
bool BoundPlan::matches_home() {
  bool same = result_shares_.grid.count() == tasks_->grid().count();
  for (int64_t c = colours().lo; c < colours().hi && same; c++) {
    const Share& share = result_shares_.of[size_t(c)];
    same = share.fused.empty() && share.positions.empty();
    for (size_t d = 0; d < share.coordinates.size() && same; d++)
      same = share.coordinates[d] == interval(target(c).ranges[d]);
  }
  return on_all_ranks(same);
}

}  // namespace spdistal
