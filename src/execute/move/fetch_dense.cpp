// Fetching pieces of dense tensors.
#include "execute/move/fetch_state.hpp"
#include "runtime/space/box_index.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal {

using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Partition;
using runtime::Rect;
using runtime::Space;

namespace {

// What the pieces here cover, by level.
std::vector<std::vector<Range>> home_boxes(const Home& home) {
  std::vector<std::vector<Range>> out;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    std::vector<Range>& box = out.emplace_back();
    for (const LevelArrays& level : home.piece(q).pattern().levels()) box.push_back(level.range);
  }
  return out;
}

}  // namespace

void Fetch::State::plan_dense(const Home& home, const FetchRequest& request) {
  Space universe = universe_of(home.format(), home.dims());
  Partition held = held_by(home, universe);
  std::vector<Space> missing;
  Instances own(colours);
  runtime::together(transport, [&] {
    runtime::BoxIndex index(home_boxes(home));
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      FetchedPiece& p = piece(c);
      std::vector<Space> sets = request.needs[size_t(c)].coordinates;
      std::vector<Range> ranges;
      for (size_t d = 0; d < sets.size(); d++) {
        Range hull = sets[d].empty() ? Range{0, 0} : sets[d].bounding()[0];
        ranges.push_back(request.ranges[size_t(c - colours.lo)][d].value_or(hull));
      }
      fill_up(sets, int64_t(4) << 20);
      Space needed = product_of(home.format(), sets);
      std::vector<Range> sides;
      for (int dim : home.format().mode_order()) sides.push_back(ranges[size_t(dim)]);
      Space box{Rect(sides)};
      auto covers_all = [&](const Storage& stored) {
        for (size_t k = 0; k < sides.size(); k++) {
          const Range& has = stored.pattern().level(k).range;
          if (sides[k].lo < has.lo || sides[k].hi > has.hi) return false;
        }
        return true;
      };
      if (!request.copy)
        for (int64_t k : index.meeting(sides))
          if (int64_t q = home.colours().lo + k;
              !p.home && covers_all(home.piece(q)) && runtime::contains(held[q], needed))
            p.home = q;
      if (p.home) {
        missing.push_back(Space(int(home.order())));
        own.add(Instance(home.type(), Layout::compact(Space(int(home.order())))));
        continue;
      }
      p.own.emplace(dense_pattern(home.format(), home.dims(), ranges, home.type(), "a dense piece"), home.type());
      missing.push_back(needed & box);
      own.add(instance_of(*p.own, Layout::box(box)));
    }
  });
  Partition needed(request.colours, universe, colours, std::move(missing));
  connect(home, held, needed, home_instances(home), std::move(own));
}

}  // namespace spdistal
