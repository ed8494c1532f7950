#include "execute/numbered.hpp"

#include <algorithm>
#include <cmath>

#include "lower/numbered.hpp"

namespace spdistal {

using runtime::Space;

std::vector<NumberedGroup> find_numbered(const plan::Plan& plan, const lower::Lowered& kernel) {
  auto levels = [&](const std::vector<lower::LevelOfTensor>& of_kernel) {
    std::vector<LevelOfAccess> out;
    for (const lower::LevelOfTensor& level : of_kernel)
      out.push_back({number_of(plan, kernel.operands[size_t(level.tensor) - 1]), level.level});
    std::ranges::sort(out);
    return out;
  };
  std::vector<NumberedGroup> out;
  for (const lower::NumberedLevels& group : lower::numbered_levels(kernel)) {
    NumberedGroup found{levels(group.stored), levels(group.located)};
    auto is_dense = [&](const LevelOfAccess& at) { return plan.accesses[at.access].access.tensor.format().is_dense(); };
    if (std::ranges::all_of(found.located, is_dense)) out.push_back(std::move(found));
  }
  return out;
}

void Numberings::bind(std::vector<NumberedGroup> groups, Tasks& tasks, Ghosts ghosts) {
  tasks_ = &tasks;
  ghosts_ = ghosts;
  seen_.clear();
  chosen_.clear();
  groups_ = std::move(groups);
  std::erase_if(groups_, [&](const NumberedGroup& group) {
    return std::ranges::any_of(group.stored, [&](const LevelOfAccess& at) { return tasks.by_steps(at.access); });
  });
}

// Of an outermost level, all else of the access being ranges that the home piece covers. What is written while it is read is
// copied, and of what steps cut there is no more than a step's. Where homes are cut as tasks are, a colour reads its own.
Numberings::OwnRows Numberings::find_own(const LevelOfAccess& located, const Home& home, int64_t colour,
                                         const Space& coordinates, const Tasks::Pieces& pieces) {
  auto beside = [&](const LevelOfAccess& at) { return at.access == located.access && at.level != located.level; };
  bool alone = std::ranges::none_of(
      groups_, [&](const NumberedGroup& other) { return std::ranges::any_of(other.located, beside); });
  bool written = plan_.accesses[located.access].access.tensor == plan_.leaf.result;
  if (located.level > 0 || !alone || written || tasks_->by_steps(located.access)) return {};
  Ranges ranges = tasks_->ranges(located.access, colour, {}, pieces);
  auto covers = [&](const Pattern& piece) {
    for (size_t k = 1; k < piece.order(); k++) {
      const std::optional<Range>& wanted = ranges[plan_.accesses[located.access].dims[k]];
      if (!wanted || wanted->lo < piece.level(k).range.lo || wanted->hi > piece.level(k).range.hi) return false;
    }
    return true;
  };
  OwnRows best;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    const Pattern& piece = home.piece(q).pattern();
    Range rows = piece.level(0).range;
    bool others = q != colour && home.shares().grid == tasks_->grid();
    if (others || home.is_padded(q) || !home.piece(q).can_move() || !covers(piece)) continue;
    int64_t found = (coordinates & interval(rows)).size();
    if (found > best.found) best = {&home, q, rows, found};
  }
  return best;
}

// Lists of coordinates along several dimensions of a piece make rectangles: there may be so many, as `fill_up` has it.
bool Numberings::has_too_many_lists(const NumberedGroup& group, const Space& coordinates) const {
  return std::ranges::any_of(group.located, [&](const LevelOfAccess& at) {
    const std::vector<plan::Projection>& projections = plan_.accesses[at.access].projections;
    auto lists = std::ranges::count_if(
        projections, [](const plan::Projection& p) { return std::holds_alternative<plan::Gather>(p); });
    return lists > 1 && double(coordinates.rect_count()) > std::pow(double(most_rects), 1.0 / double(lists));
  });
}

// None where coordinates may stay: they are a range, or are all in a home piece.
Numberings::ColourNumbers Numberings::choose(const NumberedGroup& group, int64_t colour, const Tasks::Pieces& pieces,
                                             const std::vector<const Home*>& homes) {
  std::vector<Space> stored;
  for (const LevelOfAccess& at : group.stored) stored.push_back(tasks_->stored(at.access, at.level, colour, pieces));
  Space all = runtime::unite(1, stored);
  if (all.empty() || has_too_many_lists(group, all)) return {};
  std::vector<OwnRows> own;
  for (const LevelOfAccess& at : group.located) own.push_back(find_own(at, *homes[at.access], colour, all, pieces));
  const OwnRows& best = *std::ranges::max_element(own, {}, &OwnRows::found);
  bool behind_home = best.home && ghosts_ == Ghosts::BehindHomes;
  if (best.found == all.size() || (!behind_home && all.is_rect())) return {};
  if (!behind_home) return {Numbering{{}, 0, all}};
  Numbering numbering{best.rows, best.rows.size(), all - interval(best.rows)};
  if (auto out = around(group, numbering, own, array_bytes(group, colour, pieces))) return std::move(*out);
  Range rows = best.home->tails().find(best.colour, numbering.ghosts.size());
  numbering.behind += rows.lo;
  return {std::move(numbering), take(group, best.rows, rows, own)};
}

size_t Numberings::array_bytes(const NumberedGroup& group, int64_t colour, const Tasks::Pieces& pieces) {
  size_t sum = 0;
  for (const LevelOfAccess& at : group.stored) {
    const Pattern& pattern = (*pieces[at.access])[colour].pattern();
    std::span<const LevelArray> names = pattern.format().levels()[at.level].arrays();
    for (size_t n = 0; n < names.size(); n++)
      if (names[n].holds == Holds::Coordinates) sum += pattern.level(at.level).arrays[n].array.bytes();
  }
  return sum;
}

// Ghosts with places between them do not arrive where they belong: messages take as much memory once more.
std::optional<Numberings::ColourNumbers> Numberings::around(const NumberedGroup& group, const Numbering& numbering,
                                                            const std::vector<OwnRows>& own, size_t array_bytes) const {
  const Range &home = numbering.home, ghosts = numbering.ghosts.bounding()[0];
  Range all{std::min(home.lo, ghosts.lo), std::max(home.hi, ghosts.hi)};
  int64_t wanted = home.size() + numbering.ghosts.size();
  if (all.size() > wanted + wanted / 64) return std::nullopt;
  size_t messages = 0;
  for (const OwnRows& of : own)
    if (of.home && all.size() > wanted)
      messages += size_t(numbering.ghosts.size() * (of.home->piece(of.colour).nnz() / of.rows.size())) *
                  size_of(of.home->type());
  if (messages > array_bytes) return std::nullopt;
  ColourNumbers out{numbering, take(group, home, {all.lo - home.lo, all.hi - home.hi}, own)};
  if (out.continuations.size() < own.size()) return std::nullopt;
  out.numbering->around = all;
  return out;
}

std::vector<Numberings::Continuation> Numberings::take(const NumberedGroup& group, const Range& own_rows,
                                                       const Range& rows, const std::vector<OwnRows>& own) const {
  std::vector<Continuation> out;
  for (size_t k = 0; k < own.size(); k++)
    if (own[k].home && own[k].rows == own_rows)
      if (std::optional<Tails::Rows> taken = own[k].home->tails().take(own[k].colour, rows))
        out.push_back({group.located[k].access, own[k].colour, std::move(*taken)});
  return out;
}

std::vector<Numberings::ColourNumbers> Numberings::choose(const NumberedGroup& group, const Tasks::Pieces& pieces,
                                                          const std::vector<const Home*>& homes) {
  std::vector<ColourNumbers> out(size_t(tasks_->colours().size()));
  if (std::ranges::any_of(group.stored, [&](const LevelOfAccess& at) { return !pieces[at.access]; })) return out;
  for (size_t c = 0; c < out.size(); c++) out[c] = choose(group, tasks_->colours().lo + int64_t(c), pieces, homes);
  return out;
}

std::vector<PieceNumbers> Numberings::of(size_t access, const Tasks::Pieces& pieces,
                                         const std::vector<const Home*>& homes) {
  const plan::AccessPlan& planned = plan_.accesses[access];
  PieceNumbers none{std::vector<std::optional<Numbering>>(planned.dims.size())};
  std::vector<PieceNumbers> out(size_t(tasks_->colours().size()), none);
  for (size_t g = 0; g < groups_.size(); g++)
    for (const LevelOfAccess& at : groups_[g].located) {
      if (at.access != access) continue;
      if (!chosen_.contains(g)) chosen_.emplace(g, choose(groups_[g], pieces, homes));
      for (size_t c = 0; c < out.size(); c++) {
        const ColourNumbers& numbers = chosen_.at(g)[c];
        out[c].dims[planned.dims[at.level]] = numbers.numbering;
        auto behind = std::ranges::find(numbers.continuations, access, &Continuation::access);
        if (behind != numbers.continuations.end()) out[c].continues = behind->home;
      }
    }
  return out;
}

std::vector<NumberedGroup> Numberings::in_use() const {
  std::vector<NumberedGroup> out;
  for (const auto& [g, by_colour] : chosen_)
    if (std::ranges::any_of(by_colour, [](const ColourNumbers& of) { return of.numbering.has_value(); }))
      out.push_back(groups_[g]);
  return out;
}

plan::FoundBy Numberings::found_by(size_t group) const {
  auto by_colour = chosen_.find(group);
  if (by_colour == chosen_.end()) return plan::FoundBy::Numbers;
  auto out = plan::FoundBy::Coordinates;
  for (const ColourNumbers& of : by_colour->second)
    if (of.numbering) out = std::max(out, of.numbering->around ? plan::FoundBy::Around : plan::FoundBy::Numbers);
  return out;
}

const Numbering* Numberings::numbering_of(const LevelOfAccess& stored, int64_t colour) const {
  for (const auto& [g, by_colour] : chosen_)
    if (std::ranges::find(groups_[g].stored, stored) != groups_[g].stored.end())
      if (const auto& numbering = by_colour[size_t(colour - tasks_->colours().lo)].numbering)
        return numbering->around ? nullptr : &*numbering;
  return nullptr;
}

const Numberings::SeenPattern& Numberings::find(size_t access, int64_t colour, const Tasks::Pieces& pieces) {
  auto [found, fresh] = seen_.try_emplace({access, colour});
  SeenPattern& seen = found->second;
  if (!fresh) return seen;
  const Pattern& pattern = (*pieces[access])[colour].pattern();
  std::vector<LevelArrays> levels = pattern.levels();
  bool numbered = false;
  for (size_t k = 0; k < levels.size(); k++) {
    const Numbering* numbering = numbering_of({access, k}, colour);
    if (!numbering) continue;
    numbered = true;
    std::span<const LevelArray> names = pattern.format().levels()[k].arrays();
    for (size_t n = 0; n < names.size(); n++) {
      if (names[n].holds != Holds::Coordinates) continue;
      IndexArray& array = levels[k].arrays[n].array;
      array = (*numbering)(array);
      seen.bytes += array.bytes();
    }
  }
  if (numbered) seen.pattern = std::make_shared<const Pattern>(pattern.format(), pattern.dims(), std::move(levels));
  return seen;
}

}  // namespace spdistal
