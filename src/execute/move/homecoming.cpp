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
                       Arrival arrival, notation::AssignOp operation, runtime::Traffic* traffic,
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
      has_replicas_(has_replicas(home)) {
  std::vector<std::vector<Range>> ranges;
  for (const ResultTarget& target : targets_) ranges.push_back(target.ranges);
  size_t taken = 0;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) taken += home.piece(q).bytes();
  check_memory(home.format(), ranges, home.type(), taken);
  for (const ResultTarget& target : targets_)
    pieces_.emplace_back(dense_pattern(home.format(), home.dims(), target.ranges, home.type(), "a dense piece"),
                         home.type());
}

Space Homecoming::box(int64_t colour, const Format& format) const {
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back(targets_[size_t(colour - colours_.lo)].ranges[size_t(dim)]);
  return Space(runtime::Rect(sides));
}

Storage& Homecoming::operator[](int64_t colour) { return pieces_[size_t(colour - colours_.lo)]; }

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
    const ResultTarget& target = targets_[size_t(c - colours_.lo)];
    Space all = box(c, home.format());
    computed.push_back(target.idle ? Space(int(home.order())) : product_of(home.format(), target.touched) & all);
    own.add(instance_of(pieces_[size_t(c - colours_.lo)], Layout::box(all), copies_));
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
    home_->rebind(moved_to(*home_instances_, home), *instances_);
    replicas_.reset();
  }
  bound_ = std::move(memory);
  Sending results(transport_.sent(), tensor_, arrival_ == Arrival::Add ? Cargo::Reductions : Cargo::Results);
  home_->run();
  if (arrival_ == Arrival::Add && has_replicas_) refresh_replicas(home);
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
