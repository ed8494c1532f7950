#include "runtime/records/sort_globally.hpp"

#include <algorithm>

#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

constexpr int64_t samples_per_rank = 64;

/// Samples of each rank, as many as its share of the records, together in order; then every so many of them. Ranks that
/// have more records speak for more, so that the bounds balance records, not ranks.
Records bounds_between_ranks(Transport& transport, const Records& mine, std::span<const int> modes) {
  int64_t total = std::max<int64_t>(1, transport.allreduce(mine.size(), ReduceOp::Sum));
  int64_t step = std::max<int64_t>(1, total / (samples_per_rank * transport.size()));
  Writer out;
  for (int64_t k = step / 2; k < mine.size(); k += step) out.put_all(mine.at(k));
  Records samples(mine.order(), ScalarType::Bool);
  for (const Bytes& bytes : share(transport, out.take()))
    for (Reader in(bytes); !in.at_end();) samples.add(in.take_all<int64_t>(size_t(mine.order())), false);
  sort(samples, modes, Duplicates::Keep);
  Records bounds(mine.order(), ScalarType::Bool);
  for (int64_t r = 1; r < transport.size() && !samples.empty(); r++)
    bounds.add(samples.at(samples.size() * r / transport.size()), false);
  return bounds;
}

}  // namespace

Records sort_globally(Transport& transport, Records mine, std::span<const int> modes, Duplicates duplicates,
                      DeliverOptions options) {
  together(transport, [&] { sort(mine, modes, duplicates); });
  if (transport.size() == 1 || mine.order() == 0) {
    if (transport.size() == 1) return mine;
    // Without coordinates all records are equal: they are all on the first rank.
    auto first = [](std::span<const int64_t>, int64_t, std::vector<int64_t>& to) { to.push_back(0); };
    std::vector<Records> all = deliver(transport, std::move(mine), transport.size(), first, options);
    sort(all[0], modes, duplicates);
    return std::move(all[0]);
  }
  Records bounds = bounds_between_ranks(transport, mine, modes);
  // The records are in order, so the rank they go to only grows.
  int64_t rank = 0;
  auto place = [&](std::span<const int64_t> at, int64_t, std::vector<int64_t>& to) {
    while (rank < bounds.size() && !precedes(at, bounds.at(rank), modes)) rank++;
    to.push_back(rank);
  };
  std::vector<Records> here = deliver(transport, std::move(mine), transport.size(), place, options);
  together(transport, [&] { sort(here[0], modes, duplicates); });
  return std::move(here[0]);
}

}  // namespace spdistal::runtime
