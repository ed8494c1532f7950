#include "execute/move/homecoming.hpp"

#include <algorithm>

#include "execute/tasks.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/region/replicas.hpp"

namespace spdistal {

using runtime::Arrival;
using runtime::Cargo;
using runtime::Instances;
using runtime::Layout;
using runtime::Partition;
using runtime::Sending;
using runtime::Space;

namespace {

bool has_replicas(const Home& home) {
  std::vector<int64_t> first = first_alike(home.shares());
  for (size_t c = 0; c < first.size(); c++)
    if (first[c] != int64_t(c) && !holds_nothing(home.shares().of[c], home.dims())) return true;
  return false;
}

MemoryBound memory_of(const Home& home, Copies copies) {
  MemoryBound out;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) add_memory(out, home.piece(q), copies);
  return out;
}

}  // namespace

Homecoming::Homecoming(runtime::Transport& transport, std::string tensor, std::string name, const Home& home,
                       const runtime::ColourGrid& grid, Range colours, std::vector<ResultTarget> targets,
                       Arrival arrival, notation::AssignOp operation, PiecePlace place, runtime::Traffic* traffic,
                       runtime::DeviceMoves* moves)
    : transport_(transport),
      tensor_(std::move(tensor)),
      name_(std::move(name)),
      grid_(grid),
      colours_(colours),
      targets_(std::move(targets)),
      arrival_(arrival),
      operation_(reduce_op(operation)),
      traffic_(traffic),
      moves_(moves),
      copies_(moves ? Copies::OfDevices : Copies::OfHost),
      has_replicas_(has_replicas(home)),
      home_pattern_(home.pattern_version()) {
  std::vector<std::vector<Range>> ranges;
  for (const ResultTarget& target : targets_) ranges.push_back(target.ranges);
  size_t taken = 0;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) taken += home.piece(q).bytes();
  check_memory(home.format(), ranges, home.type(), taken);
  for (int64_t c = colours_.lo; c < colours_.hi; c++) {
    const ResultTarget& target = targets_[index(c)];
    patterns_.push_back(dense_pattern(home.format(), home.dims(), target.ranges, home.type(), "a dense piece"));
    around_.push_back(place == PiecePlace::AroundHome && !moves_ ? find_around(home, c) : std::nullopt);
    std::vector<Range> nothing(home.order());
    pieces_.emplace_back(
        around_.back() ? dense_pattern(home.format(), home.dims(), nothing, home.type(), "nothing") : patterns_.back(),
        home.type());
  }
}

// Of a home that is cut as colours are, whose pieces have whole rows and nothing that others hold too. A colour that computes none of them
// has its piece for itself: what lies between may be much.
std::optional<Homecoming::Around> Homecoming::find_around(const Home& home, int64_t colour) const {
  const ResultTarget& target = targets_[index(colour)];
  const Share& share = home.shares().of[size_t(colour)];
  if (target.idle || has_replicas_ || home.order() == 0 || !(home.shares().grid == grid_) || !share.fused.empty() ||
      !share.positions.empty() || !home.owns_all(colour))
    return std::nullopt;
  const Pattern& piece = home.piece(colour).pattern();
  Around out{piece.level(0).range, target.ranges[size_t(home.format().mode_order()[0])], 1, {}};
  for (size_t k = 0; k < home.order(); k++) {
    auto d = size_t(home.format().mode_order()[k]);
    const Range& has = piece.level(k).range;
    if (!(share.coordinates[d] == interval(has)) || (k > 0 && target.ranges[d] != has)) return std::nullopt;
    if (k > 0) out.row *= has.size();
  }
  if (out.row == 0 || runtime::common(out.home, out.computed).size() <= 0) return std::nullopt;
  if (out.all() == out.home) return out;
  if (!home.piece(colour).can_move()) return std::nullopt;
  out.taken = home.tails().take(colour, {out.all().lo - out.home.lo, out.all().hi - out.home.hi});
  return out.taken ? std::optional(std::move(out)) : std::nullopt;
}

bool Homecoming::is_around_home(int64_t home_colour) const {
  return colours_.contains(home_colour) && around_[index(home_colour)].has_value();
}
bool Homecoming::is_around_home() const {
  return std::ranges::any_of(around_, [](const auto& around) { return around.has_value(); });
}

Space Homecoming::box(int64_t colour, const Format& format) const {
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back(targets_[index(colour)].ranges[size_t(dim)]);
  return Space(runtime::Rect(sides));
}

// Several may lie around one home: it comes to lie where it stays before they look where that is.
void Homecoming::prepare(Home& home) {
  size_t element = size_of(home.type());
  for (int64_t c = colours_.lo; c < colours_.hi; c++)
    if (const std::optional<Around>& around = around_[index(c)]) {
      size_t row = size_t(around->row) * element;
      home.piece(c).make_room(size_t(around->all().hi - around->home.lo) * row,
                              size_t(around->home.lo - around->all().lo) * row);
    }
  for (int64_t c = colours_.lo; c < colours_.hi; c++)
    if (around_[index(c)]) place(home, c);
}

void Homecoming::place(Home& home, int64_t colour) {
  const Around& around = *around_[index(colour)];
  const PatternHandle& pattern = patterns_[index(colour)];
  Storage& piece = pieces_[index(colour)];
  auto row = std::ptrdiff_t(around.row) * std::ptrdiff_t(size_of(home.type()));
  std::byte* first = home.piece(colour).value_bytes() + (around.computed.lo - around.home.lo) * row;
  if (piece.shared_pattern() == pattern && piece.value_address() == first) return;
  piece = Storage(pattern, home.type(), Buffer::borrowed({first, size_t(around.computed.size() * row)}));
}

std::vector<Storage> Homecoming::not_computed(Home& home, int64_t colour) {
  const Around& around = *around_[index(colour)];
  Storage& piece = home.piece(colour);
  auto row = std::ptrdiff_t(around.row) * std::ptrdiff_t(size_of(home.type()));
  std::vector<Storage> out;
  for (Range rows : {Range{around.home.lo, around.computed.lo}, Range{around.computed.hi, around.home.hi}}) {
    if (rows.size() <= 0) continue;
    std::vector<LevelArrays> levels = piece.pattern().levels();
    levels[0].range = rows;
    int64_t positions = 1;
    for (LevelArrays& level : levels) level.positions = positions *= level.range.size();
    std::span bytes{piece.value_bytes() + (rows.lo - around.home.lo) * row, size_t(rows.size() * row)};
    out.emplace_back(std::make_shared<const Pattern>(home.format(), home.dims(), std::move(levels)), home.type(),
                     Buffer::borrowed(bytes));
  }
  return out;
}

Storage& Homecoming::operator[](int64_t colour) { return pieces_[index(colour)]; }

// What travels in memory of the host is up to date there, and what arrives is newer than any copy.
void Homecoming::bring_to_host(Home& home) {
  for (const Storage& piece : pieces_) piece.value_bytes();
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) home.piece(q).value_bytes();
}

void Homecoming::plan(Home& home) {
  Sending indices(transport_.sent(), tensor_, Cargo::Indices);
  Space universe = universe_of(home.format(), home.dims());
  Partition held = held_by(home, universe);
  std::vector<Space> computed;
  Instances own(colours_);
  for (int64_t c = colours_.lo; c < colours_.hi; c++) {
    const ResultTarget& target = targets_[index(c)];
    Space all = box(c, home.format());
    computed.push_back(target.idle ? Space(int(home.order())) : product_of(home.format(), target.touched) & all);
    if (around_[index(c)]) computed.back() = computed.back() - held[c];
    own.add(instance_of(pieces_[index(c)], Layout::box(all), copies_));
  }
  Partition needed(grid_, universe, colours_, std::move(computed));
  runtime::Sources who = arrival_ == Arrival::Add ? runtime::Sources::Owners : runtime::Sources::Everyone;
  instances_ = own;
  home_instances_ = home_instances(home, copies_);
  home_.emplace(transport_, runtime::match(transport_, held, needed, who),
                runtime::Mapping(held.colours(), transport_.size()), runtime::Mapping(grid_.count(), transport_.size()),
                *home_instances_, own,
                runtime::ExchangeOptions{.region = name_,
                                         .traffic = traffic_,
                                         .direction = runtime::Direction::ToSources,
                                         .arrival = arrival_,
                                         .operation = operation_,
                                         .moves = moves_});
}

void Homecoming::run(Home& home) {
  if (copies_ == Copies::OfHost) bring_to_host(home);
  MemoryBound memory = memory_of(home, copies_);
  if (!home_) {
    plan(home);
  } else if (memory != bound_) {
    home_->rebind(moved_to(*home_instances_, home), own_instances());
    replicas_.reset();
  }
  bound_ = std::move(memory);
  Sending results(transport_.sent(), tensor_, arrival_ == Arrival::Add ? Cargo::Reductions : Cargo::Results);
  home_->run();
  if (arrival_ == Arrival::Add && has_replicas_) refresh_replicas(home);
}

// Those that lie around home pieces move with them.
Instances Homecoming::own_instances() const {
  Instances out(colours_);
  for (int64_t c = colours_.lo; c < colours_.hi; c++)
    out.add(instance_of(pieces_[index(c)], (*instances_)[c].shared_layout(), copies_));
  return out;
}

void Homecoming::refresh_replicas(Home& home) {
  if (!replicas_) {
    Sending indices(transport_.sent(), tensor_, Cargo::Indices);
    Space universe = universe_of(home.format(), home.dims());
    runtime::Region region(name_, home.type(), held_by(home, universe), home_instances(home, copies_));
    replicas_.emplace(runtime::replica_refresh(transport_, region, traffic_, moves_));
  }
  Sending results(transport_.sent(), tensor_, Cargo::Results);
  replicas_->run();
}

// Where elements are in the one piece and in those at home stays the same.
void Homecoming::plan_here(const Home& home) {
  Space all = box(colours_.lo, home.format());
  Partition held = held_by(home, universe_of(home.format(), home.dims()));
  Layout layout = Layout::box(all);
  instances_ = Instances(Range{colours_.lo, colours_.lo + 1});
  instances_->add(instance_of(pieces_[0], layout, copies_));
  home_instances_ = home_instances(home, copies_);
  kept_.emplace();
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    Space part = held[q] & all;
    if (part.empty()) continue;
    kept_->push_back({q, runtime::Selection(layout, part, home.type()),
                      runtime::Selection((*home_instances_)[q].layout(), part, home.type()), runtime::End(moves_),
                      runtime::End(moves_)});
    kept_->back().between = runtime::between(kept_->back().from);
  }
}

void Homecoming::keep_here(Home& home) {
  if (colours_.size() == 0) return;
  if (copies_ == Copies::OfHost) bring_to_host(home);
  if (!kept_) plan_here(home);
  Instances there = moved_to(*home_instances_, home);
  const runtime::Instance& piece = (*instances_)[colours_.lo];
  for (KeptPart& part : *kept_) {
    std::optional<memory::Place> device = runtime::End::device_of(there[part.home]);
    part.out.gather(piece, part.from, part.between, device);
    part.in.combine(part.between, there[part.home], part.to, operation_);
  }
}

bool are_home_pieces(const Shares& shares, const runtime::ColourGrid& grid, Range colours,
                     const std::vector<ResultTarget>& targets) {
  if (shares.grid.count() != grid.count()) return false;
  for (int64_t c = colours.lo; c < colours.hi; c++) {
    const Share& share = shares.of[size_t(c)];
    const ResultTarget& target = targets[size_t(c - colours.lo)];
    bool holds_nothing =
        std::any_of(share.coordinates.begin(), share.coordinates.end(), [](const Space& set) { return set.empty(); });
    if (target.idle && holds_nothing) continue;
    if (target.idle || !share.fused.empty() || !share.positions.empty()) return false;
    for (size_t d = 0; d < target.ranges.size(); d++)
      if (!(share.coordinates[d] == interval(target.ranges[d])) || !(share.coordinates[d] == target.touched[d]))
        return false;
  }
  return true;
}

}  // namespace spdistal
