// Fetching pieces of dense tensors.
#include <algorithm>

#include "execute/move/fetch_state.hpp"
#include "runtime/space/box_index.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal {

using runtime::Axis;
using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Partition;
using runtime::Rect;
using runtime::Space;

namespace {

bool is_within(const Range& wanted, const Range& has) { return has.lo <= wanted.lo && wanted.hi <= has.hi; }

Range hull(const Space& set) { return set.empty() ? Range{0, 0} : set.bounding()[0]; }

// Those that have numbers stay as they are: there is a place for each, and for nothing in between.
void fill_up_others(std::vector<Space>& sets, const std::vector<std::optional<Numbering>>& numberings) {
  std::vector<Space> others = sets;
  int64_t most = most_rects;
  for (size_t d = 0; d < sets.size(); d++)
    if (numberings[d]) {
      most /= std::max<int64_t>(1, int64_t(sets[d].rect_count()));
      others[d] = Space(sets[d].bounding());
    }
  fill_up(others, most);
  for (size_t d = 0; d < sets.size(); d++)
    if (!numberings[d]) sets[d] = others[d];
}

// Of a colour that needs anything all ghosts come: nothing is found in a place that nobody has written.
Space ghosts_of(const Numbering& numbering, const Space& needed) { return needed.empty() ? needed : numbering.ghosts; }
Space all_of(const Numbering& numbering, const Space& needed) {
  Space at_home = numbering.home.size() == 0 ? Space(1) : Space::interval(numbering.home.lo, numbering.home.hi);
  return (needed & at_home) | ghosts_of(numbering, needed);
}

}  // namespace

// The pieces of this rank as planning looks at them.
struct Fetch::State::DenseHome {
  const Home& home;
  Partition held;
  std::vector<std::vector<Range>> boxes;  // what pieces cover, by level
  runtime::BoxIndex index;

  DenseHome(const Home& of, Partition holds, std::vector<std::vector<Range>> covered)
      : home(of), held(std::move(holds)), boxes(std::move(covered)), index(boxes) {}

  const Format& format() const { return home.format(); }
  const std::vector<Range>& box(int64_t colour) const { return boxes[size_t(colour - home.colours().lo)]; }
};

// A home piece as it is, or a copy of a range of coordinates along each dimension.
Fetch::State::PlannedPiece Fetch::State::plan_box(const DenseHome& home, const FetchRequest& request, int64_t colour) {
  FetchedPiece& p = piece(colour);
  std::vector<Space> sets = select_coordinates(request.access, request.needs[size_t(colour)]);
  std::vector<Range> ranges, sides;
  for (size_t d = 0; d < sets.size(); d++)
    ranges.push_back(request.ranges[size_t(colour - colours.lo)][d].value_or(hull(sets[d])));
  for (int dim : home.format().mode_order()) sides.push_back(ranges[size_t(dim)]);
  fill_up(sets);
  Space needed = product_of(home.format(), sets);
  auto has_all = [&](int64_t q) {
    return std::ranges::equal(sides, home.box(q), is_within) && runtime::contains(home.held[q], needed);
  };
  // Of several the one of the same colour: where leaves run on devices, that is on the same.
  if (!request.copy && home.home.colours().contains(colour) && has_all(colour)) p.home = colour;
  if (!request.copy)
    for (int64_t k : home.index.meeting(sides))
      if (int64_t q = home.home.colours().lo + k; !p.home && has_all(q)) p.home = q;
  if (p.home) {
    Space nothing(int(home.home.order()));
    return {nothing, Layout::compact(nothing)};
  }
  p.pattern = dense_pattern(home.format(), home.home.dims(), ranges, home.home.type(), "a dense piece");
  Space box{Rect(sides)};
  return {needed & box, Layout::box(box)};
}

// Places for what has numbers, around those of a home piece where it continues one.
Fetch::State::PlannedPiece Fetch::State::plan_numbered(const DenseHome& home, const FetchRequest& request,
                                                       int64_t colour) {
  FetchedPiece& p = piece(colour);
  const PieceNumbers& numbers = request.numbers[size_t(colour - colours.lo)];
  std::vector<Space> sets = select_coordinates(request.access, request.needs[size_t(colour)]);
  std::vector<Range> ranges(sets.size());
  std::vector<Axis> axes;
  for (size_t level = 0; level < sets.size(); level++) {
    auto d = size_t(home.format().mode_order()[level]);
    Range& range = ranges[d];
    if (const std::optional<Numbering>& numbering = numbers.dims[d]) {
      sets[d] = numbers.continues ? ghosts_of(*numbering, sets[d]) : all_of(*numbering, sets[d]);
      range = numbering->places();
      axes.push_back(numbering->axis());
    } else {
      range = numbers.continues ? home.box(*numbers.continues)[level]
                                : request.ranges[size_t(colour - colours.lo)][d].value_or(hull(sets[d]));
      sets[d] = range.size() > 0 ? sets[d] & Space::interval(range.lo, range.hi) : Space(1);
      axes.push_back({{{range, 0}}, range.size()});
    }
  }
  fill_up_others(sets, numbers.dims);
  Space comes = product_of(home.format(), sets);
  p.pattern = dense_pattern(home.format(), home.home.dims(), ranges, home.home.type(), "a dense piece");
  if (!numbers.continues) return {comes, Layout::grid(std::move(axes))};
  const Numbering& rows = *numbers.dims[size_t(home.format().mode_order()[0])];
  int64_t row = p.pattern->nnz() / rows.places().size() * int64_t(size_of(home.home.type()));
  int64_t front = rows.around ? rows.home.lo - rows.around->lo : 0;
  int64_t ghosts = rows.around ? rows.around->size() - rows.home.size() : rows.ghosts.size();
  p.in_home = {*numbers.continues, std::ptrdiff_t(-front * row), size_t(ghosts * row)};
  return {comes, Layout::grid(std::move(axes))};
}

void Fetch::State::plan_dense(const Home& home, const FetchRequest& request) {
  Space universe = universe_of(home.format(), home.dims());
  Partition held = held_by(home, universe);
  std::vector<Space> missing;
  Instances own(colours);
  runtime::together(transport, [&] {
    std::vector<std::vector<Range>> boxes;
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
      Rect box = box_of(home.piece(q));
      boxes.emplace_back(box.sides().begin(), box.sides().end());
    }
    DenseHome pieces_here(home, held, std::move(boxes));
    std::vector<Layout> layouts;
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      bool numbered = request.numbers[size_t(c - colours.lo)].any();
      PlannedPiece planned = numbered ? plan_numbered(pieces_here, request, c) : plan_box(pieces_here, request, c);
      missing.push_back(std::move(planned.comes));
      layouts.push_back(std::move(planned.layout));
    }
    for (FetchedPiece& p : pieces)
      if (p.pattern && !p.in_home) p.own.emplace(p.pattern, home.type());
    prepare(home);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      Layout& layout = layouts[size_t(c - colours.lo)];
      own.add(piece(c).home ? Instance(home.type(), std::move(layout))
                            : instance_of(*piece(c).own, std::move(layout), copies));
    }
  });
  Partition needed(request.colours, universe, colours, std::move(missing));
  connect(home, held, needed, home_instances(home, copies), std::move(own));
}

}  // namespace spdistal
