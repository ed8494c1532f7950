#include "execute/move/taken_over.hpp"

#include <algorithm>

#include "execute/move/numbers.hpp"
#include "execute/move/reduce_op.hpp"
#include "execute/move/regions.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal {

using runtime::Cargo;
using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Mapping;
using runtime::Partition;
using runtime::Sending;
using runtime::Space;

namespace {

std::vector<size_t> dims_in_order(const Format& format) {
  return {format.mode_order().begin(), format.mode_order().end()};
}

Space one(int64_t number) { return Space::interval(number, number + 1); }

}  // namespace

TakenOver::TakenOver(runtime::Transport& transport, std::string tensor, std::string name, const ComputedPieces& pieces,
                     notation::AssignOp operation, runtime::Traffic* traffic)
    : transport_(transport),
      tensor_(std::move(tensor)),
      name_(std::move(name)),
      operation_(reduce_op(operation)),
      traffic_(traffic),
      shares_{pieces.grid, {}} {
  Sending indices(transport_.sent(), tensor_, Cargo::Indices);
  cut(ends_of(transport_, pieces.made), pieces);
}

// Of all colours.
std::vector<TakenOver::Ends> TakenOver::ends_of(runtime::Transport& transport, const std::vector<Storage>& made) {
  runtime::Writer mine;
  for (const Storage& piece : made)
    mine.put(piece.nnz() == 0 ? Ends{}
                              : Ends{number_at(piece.pattern(), 0), number_at(piece.pattern(), piece.nnz() - 1)});
  std::vector<Ends> all;
  for (const runtime::Bytes& bytes : runtime::share(transport, mine.take()))
    for (runtime::Reader r(bytes); !r.at_end();) all.push_back(r.take<Ends>());
  return all;
}

// A colour has what comes after the last element of those before it, up to its own last: all numbers are somebody's.
void TakenOver::cut(const std::vector<Ends>& ends, const ComputedPieces& pieces) {
  Range mine = Mapping(pieces.grid.count(), transport_.size()).colours_of(transport_.rank());
  cuts_.resize(size_t(mine.size()));
  int64_t all = all_numbers(pieces.dims).size();
  int64_t next = 0;   // the first number that is nobody's yet
  size_t before = 0;  // the colour that has the one before it
  size_t last = 0;    // the last that has anything
  for (size_t c = 0; c < ends.size(); c++)
    if (ends[c].last >= ends[c].first) last = c;
  for (size_t c = 0; c < ends.size(); c++) {
    bool none = ends[c].last < ends[c].first;
    if (!none && ends[c].first < next) {
      any_cut_ = true;
      if (mine.contains(int64_t(before))) cuts_[before - size_t(mine.lo)].owned = one(ends[c].first);
      if (mine.contains(int64_t(c))) cuts_[c - size_t(mine.lo)].sent = one(ends[c].first);
    }
    Share& share = shares_.of.emplace_back(whole_share(pieces.dims));
    int64_t end = c == last ? all : ends[c].last + 1;
    if (none && c != last) {
      share.coordinates[0] = Space(1);
      continue;
    }
    // One that has nothing but a part of another's element is told from those that have nothing, and from those that have
    // a part of another one.
    share.fused.push_back({dims_in_order(pieces.format), {next, std::max(next, end)}});
    if (end <= next) continue;
    next = end;
    before = c;
  }
}

std::vector<const std::byte*> TakenOver::memory_of(Home& home) const {
  std::vector<const std::byte*> out;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) out.push_back(home.piece(c).value_bytes());
  return out;
}

void TakenOver::connect(const Home& home) {
  Sending indices(transport_.sent(), tensor_, Cargo::Indices);
  Instances owners(home.colours()), senders(home.colours());
  std::vector<Space> owned, sent;
  for (const Cut& cut : cuts_) {
    const Storage& piece = home.piece(home.colours().lo + int64_t(owned.size()));
    Layout last = Layout::compact(Space(1));
    if (!cut.owned.empty()) last = last.with_tail(cut.owned, piece.nnz() - 1);
    owners.add(instance_of(piece, std::move(last)));
    senders.add(instance_of(piece, Layout::compact(cut.sent)));
    owned.push_back(cut.owned);
    sent.push_back(cut.sent);
  }
  Space universe = all_numbers(home.dims());
  Partition held(shares_.grid, universe, home.colours(), std::move(owned));
  Partition needed(shares_.grid, universe, home.colours(), std::move(sent));
  Mapping ranks(shares_.grid.count(), transport_.size());
  owners_ = owners;
  senders_ = senders;
  exchange_.emplace(transport_, runtime::match(transport_, held, needed, runtime::Sources::Owners), ranks, ranks,
                    std::move(owners), std::move(senders),
                    runtime::ExchangeOptions{.region = name_,
                                             .traffic = traffic_,
                                             .direction = runtime::Direction::ToSources,
                                             .arrival = runtime::Arrival::Add,
                                             .operation = operation_});
}

void TakenOver::add_up(Home& home) {
  if (!any_cut_) return;
  std::vector<const std::byte*> memory = memory_of(home);
  if (!exchange_) connect(home);
  else if (memory != bound_) exchange_->rebind(moved_to(*owners_, home), moved_to(*senders_, home));
  bound_ = std::move(memory);
  Sending sums(transport_.sent(), tensor_, Cargo::Reductions);
  exchange_->run();
}

}  // namespace spdistal
