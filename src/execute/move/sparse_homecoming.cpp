#include "execute/move/sparse_homecoming.hpp"

#include "execute/move/numbers.hpp"
#include "execute/move/reduce_op.hpp"
#include "execute/move/regions.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/transport/agree.hpp"

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

// Elements of a piece are one behind the other in the order of their numbers.
struct NumberedPieces {
  explicit NumberedPieces(Range colours) : instances(colours) {}
  void add(const Storage& piece) {
    numbers.push_back(numbers_of(piece.pattern()));
    instances.add(instance_of(piece, Layout::compact(numbers.back())));
  }
  std::vector<Space> numbers;
  Instances instances;
};

}  // namespace

SparseHomecoming::SparseHomecoming(runtime::Transport& transport, std::string tensor, std::string name,
                                   const runtime::ColourGrid& grid, const std::vector<Storage>& made, const Home& home,
                                   notation::AssignOp operation, runtime::Traffic* traffic)
    : transport_(transport), tensor_(std::move(tensor)) {
  Sending indices(transport_.sent(), tensor_, Cargo::Indices);
  Mapping home_ranks(home.shares().grid.count(), transport.size()), ranks(grid.count(), transport.size());
  NumberedPieces at_home(home.colours()), computed(ranks.colours_of(transport.rank()));
  runtime::together(transport_, [&] {
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) at_home.add(home.piece(q));
    for (const Storage& piece : made) computed.add(piece);
  });
  Space universe = all_numbers(home.dims());
  Partition held(home.shares().grid, universe, home.colours(), std::move(at_home.numbers));
  Partition needed(grid, universe, computed.instances.colours(), std::move(computed.numbers));
  owners_ = at_home.instances;
  senders_ = computed.instances;
  exchange_.emplace(transport_, runtime::match(transport_, held, needed, runtime::Sources::Everyone), home_ranks, ranks,
                    std::move(at_home.instances), std::move(computed.instances),
                    runtime::ExchangeOptions{.region = std::move(name),
                                             .traffic = traffic,
                                             .direction = runtime::Direction::ToSources,
                                             .arrival = runtime::Arrival::Add,
                                             .operation = reduce_op(operation)});
}

void SparseHomecoming::run(const std::vector<Storage>& made, Home& home, const Scalar& background) {
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) home.piece(q).fill(background);
  Instances computed(senders_->colours());
  for (size_t k = 0; k < made.size(); k++)
    computed.add(instance_of(made[k], (*senders_)[senders_->colours().lo + int64_t(k)].shared_layout()));
  exchange_->rebind(moved_to(*owners_, home), std::move(computed));
  Sending results(transport_.sent(), tensor_, Cargo::Results);
  exchange_->run();
  home.changed();
}

}  // namespace spdistal
