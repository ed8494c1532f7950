#include "tensor/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "base/threads.hpp"
#include "level/kernel.hpp"
#include "memory/copy.hpp"
#include "runtime/records/sort_globally.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/nodes.hpp"
#include "tensor/pack.hpp"
#include "tensor/pieces.hpp"
#include "tensor/slices.hpp"
#include "tensor/sort.hpp"

namespace spdistal {

using runtime::Records;
using runtime::Transport;

namespace {

// Ranks must mean the same tensor.
void agree_on(Transport& transport, const Format& format, const std::vector<int64_t>& dims, ScalarType type,
              const Shares& shares) {
  Hasher all;
  std::string text = format.str();
  all.all(std::span<const char>(text));
  all.all(std::span<const int64_t>(dims));
  all.word(uint64_t(type));
  all.word(hash(shares));
  agree_same(transport, all.value(), "the format, size or distribution of the tensor");
}

bool everyone_holds_all(const Shares& simple, const std::vector<int64_t>& dims) {
  Share all = whole_share(dims);
  return std::all_of(simple.of.begin(), simple.of.end(), [&](const Share& share) { return share == all; });
}

// One rank, and all its colours hold everything: packing is local.
Home at_one_place(Transport& transport, Storage whole, const Format& format, Shares shares) {
  std::vector<int64_t> dims = whole.dims();
  ScalarType type = whole.type();
  std::vector<Storage> pieces = runtime::together(transport, [&] {
    std::vector<Range> all;
    for (int64_t dim : dims) all.push_back({0, dim});
    check_memory(format, std::vector(size_t(shares.grid.count()), all), type);
    std::vector<Storage> out;
    for (int64_t c = 1; c < shares.grid.count(); c++) out.push_back(whole.clone());
    out.push_back(std::move(whole));
    return out;
  });
  return Home(transport, format, std::move(dims), type, std::move(shares), std::move(pieces));
}

// What a rank keeps of records that all ranks have.
Bring keep_own(Transport& transport, int64_t colours) {
  Range mine = runtime::Mapping(colours, transport.size()).colours_of(transport.rank());
  return [mine](Records records, const runtime::Destinations& place) {
    std::vector<Records> out(size_t(mine.size()), Records(records.order(), records.type()));
    std::vector<int64_t> to;
    for (int64_t k = 0; k < records.size(); k++) {
      to.clear();
      place(records.at(k), k, to);
      for (int64_t colour : to)
        if (mine.contains(colour)) out[size_t(colour - mine.lo)].add_bytes(records.at(k), records.value(k));
    }
    return out;
  };
}

// The coordinates of the first level that entries have.
Range first_coordinates(const Coordinates& entries, const Format& format) {
  std::span<const int64_t> column = entries.column(size_t(format.mode_order()[0]));
  if (column.empty()) return {};
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  int threads = column.size() > 100000 ? loop_threads() : 1;
#pragma omp parallel for schedule(static) reduction(min : lo) reduction(max : hi) num_threads(threads)
  for (size_t e = 0; e < column.size(); e++) lo = std::min(lo, column[e]), hi = std::max(hi, column[e] + 1);
  return {lo, hi};
}

// Collective. Whether every rank has a range, and none shares a coordinate with another.
bool are_apart(Transport& transport, const std::optional<Range>& mine) {
  std::vector<Range> all = transport.allgather(mine.value_or(Range{-1, 0}));
  std::erase_if(all, [](const Range& range) { return range.size() == 0; });
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.lo < b.lo; });
  for (size_t k = 0; k < all.size(); k++)
    if (all[k].lo < 0 || (k > 0 && all[k].lo < all[k - 1].hi)) return false;
  return true;
}

// Where ranks bring different coordinates of the first level, each packs its own and slices of that travel. Nothing where
// they do not, or where packing would take far more than entries do.
std::optional<Home> pack_in_slices(Transport& transport, Coordinates& mine, const Format& format, const Shares& shares,
                                   const Shares& simple) {
  std::vector<int64_t> dims = mine.dims();
  if (!are_slices(simple, format, dims)) return std::nullopt;
  size_t first = size_t(format.mode_order()[0]);
  Range here = first_coordinates(mine, format), piece;
  Range colours = runtime::Mapping(shares.grid.count(), transport.size()).colours_of(transport.rank());
  if (colours.size() == 1) piece = hull(simple.of[size_t(colours.lo)], dims)[first];
  bool within = here.size() == 0 || (piece.lo <= here.lo && here.hi <= piece.hi);
  // What is packed as the piece that it is need not be cut out.
  bool as_pieces = are_apart(transport, within ? std::optional(piece) : std::nullopt);
  bool sparse = here.size() > 4 * mine.size() + 1000;
  if (!as_pieces && !are_apart(transport, sparse ? std::nullopt : std::optional(here))) return std::nullopt;
  Storage packed = runtime::together(transport, [&] {
    std::vector<Range> bounds;
    for (int64_t dim : dims) bounds.push_back({0, dim});
    bounds[first] = as_pieces ? piece : here;
    return pack(std::move(mine), format, bounds);
  });
  return move_slices(transport, packed, format, shares);
}

}  // namespace

Home pack(Transport& transport, Coordinates mine, const Format& format, Shares shares,
          runtime::DeliverOptions options) {
  std::vector<int64_t> dims = mine.dims();
  Shares simple{shares.grid, {}};
  runtime::ReduceOp merging = mine.merging();
  Entries entries{Records(int(dims.size()), mine.type()), {}, {}, {}};
  bool local = false;
  runtime::together(transport, [&] {
    check(shares, format, dims).value();
    mine.check().value();
    simple = simplified(shares, format, dims);
    local = transport.size() == 1 && everyone_holds_all(simple, dims);
  });
  if (local) return at_one_place(transport, pack(std::move(mine), format), format, std::move(shares));
  agree_on(transport, format, dims, mine.type(), shares);
  if (std::optional<Home> out = pack_in_slices(transport, mine, format, shares, simple)) return std::move(*out);
  runtime::together(transport, [&] { entries.records = to_records(std::move(mine)); });
  if (needs_order(simple)) {
    Records sorted =
        sort_globally(transport, std::move(entries.records), format.mode_order(), runtime::Duplicates::Keep, options);
    entries = number_entries(transport, std::move(sorted), format, Tree(format, dims));
  }
  entries.merging = merging;
  int64_t colours = shares.grid.count();
  return make_home(transport, std::move(entries), dims, format, std::move(shares),
                   [&](Records records, const runtime::Destinations& place) {
                     return deliver(transport, std::move(records), colours, place, options);
                   });
}

Home pack_alike(Transport& transport, Coordinates all, const Format& format, Shares shares,
                runtime::DeliverOptions options) {
  check_alike(transport, all);
  Coordinates mine = runtime::together(transport, [&] {
    if (transport.size() == 1) return std::move(all);
    all.check().value();
    Range part = block(all.size(), transport.size(), transport.rank());
    Coordinates out(all.dims(), all.type());
    out.merge_by(all.merging());
    out.resize(part.size());
    for (size_t d = 0; d < all.order(); d++)
      std::copy_n(all.column(d).begin() + part.lo, part.size(), out.column(d).begin());
    size_t bytes = size_of(all.type());
    if (part.size() > 0)
      memory::copy_bytes(out.value_bytes(), all.value_bytes() + size_t(part.lo) * bytes, size_t(part.size()) * bytes);
    return out;
  });
  if (transport.size() > 1) all = Coordinates(all.dims(), all.type());
  return pack(transport, std::move(mine), format, std::move(shares), options);
}

Home scatter(Transport& transport, const Storage& whole, Shares shares) {
  Format format = whole.format();
  Storage view = whole.view();
  if (std::optional<Home> out = keep_slices(transport, view, format, shares)) return std::move(*out);
  std::vector<int64_t> dims = whole.dims();
  Entries entries = runtime::together(transport, [&] {
    check(shares, format, dims).value();
    Records records = to_records(unpack(whole));
    return needs_order(simplified(shares, format, dims))
               ? number_entries(std::move(records), format, Tree(format, dims))
               : Entries{std::move(records), {}, {}, {}};
  });
  Bring keep = keep_own(transport, shares.grid.count());
  return make_home(transport, std::move(entries), dims, format, std::move(shares), keep);
}

Home scatter(Transport& transport, Storage&& whole, Shares shares) {
  if (transport.size() == 1 && check(shares, whole.format(), whole.dims()) &&
      everyone_holds_all(simplified(shares, whole.format(), whole.dims()), whole.dims())) {
    Format format = whole.format();
    return at_one_place(transport, std::move(whole), format, std::move(shares));
  }
  if (std::optional<Home> out = keep_slices(transport, whole, Format(whole.format()), shares)) return std::move(*out);
  return scatter(transport, static_cast<const Storage&>(whole), std::move(shares));
}

Coordinates owned_elements(const Home& home) {
  Coordinates out(home.dims(), home.type());
  size_t bytes = size_of(home.type());
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    if (home.owns_nothing(c)) continue;
    const Storage& piece = home.piece(c);
    if (home.owns_all(c)) {
      Coordinates all = unpack(piece);
      if (out.size() == 0) out = std::move(all);
      else out.append(all);
      continue;
    }
    for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t position) {
      int64_t e = out.size();
      out.resize(e + 1);
      for (size_t d = 0; d < at.size(); d++) out.column(d)[size_t(e)] = at[d];
      memory::copy_bytes(out.value_bytes() + size_t(e) * bytes, piece.value_bytes() + size_t(position) * bytes, bytes);
    });
  }
  return out;
}

Coordinates gather(Transport& transport, const Home& home) {
  Coordinates mine = runtime::together(transport, [&] { return owned_elements(home); });
  std::vector<int64_t> sizes = transport.allgather(mine.size());
  Coordinates all(home.dims(), home.type());
  runtime::together(transport, [&] {
    int64_t sum = 0;
    for (int64_t size : sizes) sum += size;
    all.resize(sum);
  });
  auto gather_array = [&](std::span<const std::byte> from, std::span<std::byte> to, size_t each) {
    std::vector<int64_t> counts;
    for (int64_t size : sizes) counts.push_back(size * int64_t(each));
    transport.allgatherv(from, to, counts);
  };
  for (size_t d = 0; d < home.order(); d++)
    gather_array(std::as_bytes(std::as_const(mine).column(d)), std::as_writable_bytes(all.column(d)), sizeof(int64_t));
  size_t bytes = size_of(home.type());
  gather_array({mine.value_bytes(), size_t(mine.size()) * bytes}, {all.value_bytes(), size_t(all.size()) * bytes},
               bytes);
  return runtime::together(transport, [&] { return sort_and_merge(std::move(all), home.format().mode_order()); });
}

namespace {

// Of pieces that are each their colour's own, one on each rank.
std::optional<Home> redistribute_slices(Transport& transport, const Home& home, const Format& format,
                                        const Shares& shares) {
  bool same = home.format().levels() == format.levels() && home.format().mode_order() == format.mode_order();
  if (!same || home.shares().grid.count() != transport.size()) return std::nullopt;
  int64_t colour = home.colours().lo;
  if (transport.allreduce(int64_t(home.owns_all(colour)), runtime::ReduceOp::Min) == 0) return std::nullopt;
  Storage mine = home.piece(colour).view();
  return move_slices(transport, mine, format, shares);
}

}  // namespace

Home redistribute(Transport& transport, const Home& home, const Format& format, Shares shares,
                  runtime::DeliverOptions options) {
  if (home.shares() == shares && home.format().levels() == format.levels() &&
      home.format().mode_order() == format.mode_order())
    return home.clone(transport);
  if (std::optional<Home> out = redistribute_slices(transport, home, format, shares)) return std::move(*out);
  Coordinates mine = runtime::together(transport, [&] { return owned_elements(home); });
  return pack(transport, std::move(mine), format, std::move(shares), options);
}

Home in_order_of_positions(runtime::Transport& transport, const Home& home, size_t level) {
  Shares shares{runtime::ColourGrid({transport.size()}), {}};
  for (int r = 0; r < transport.size(); r++) {
    shares.of.push_back(whole_share(home.dims()));
    shares.of.back().positions.push_back({level, {{{r, transport.size()}}}});
  }
  Home out = redistribute(transport, home, home.format(), std::move(shares));
  require(out.ordered(), "blocks of positions are consecutive");
  return out;
}

bool is_cut_clean(Transport& transport, const Home& home) {
  int64_t mixed = 0;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    mixed |= int64_t(!home.owns_all(c) && !home.owns_nothing(c));
  return transport.allreduce(mixed, runtime::ReduceOp::Max) == 0;
}

bool is_in_order(Transport& transport, const Home& home) {
  if (!is_cut_clean(transport, home)) return false;
  if (home.order() == 0) return true;
  if (!home.ordered()) return false;
  runtime::Writer bases;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    if (!home.owns_nothing(c) && home.piece(c).nnz() > 0) bases.put(home.base(c, home.order() - 1));
  int64_t last = INT64_MIN;
  for (const runtime::Bytes& bytes : share(transport, bases.take()))
    for (runtime::Reader in(bytes); !in.at_end();) {
      int64_t base = in.take<int64_t>();
      if (base < last) return false;
      last = base;
    }
  return true;
}

std::vector<std::byte> detail::find_value(Transport& transport, const Home& home, std::span<const int64_t> at) {
  runtime::Writer found;
  runtime::together(transport, [&] {
    if (at.size() != home.order())
      throw UserError(fmt::format("an element of a tensor of order {} has {} coordinates, not {}", home.order(),
                                  home.order(), at.size()));
    for (size_t d = 0; d < at.size(); d++)
      if (at[d] < 0 || at[d] >= home.dims()[d])
        throw UserError(
            fmt::format("coordinate {} lies outside dimension {}, whose size is {}", at[d], d, home.dims()[d]));
    size_t bytes = size_of(home.type());
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
      const Storage& piece = home.piece(c);
      locate(piece.pattern(), at, [&](Range positions) {
        for (int64_t p = positions.lo; p < positions.hi; p++)
          if (home.owns(c, at, p))
            found.put_all(std::span<const std::byte>(piece.value_bytes() + size_t(p) * bytes, bytes));
      });
    }
  });
  std::vector<std::byte> out;
  for (runtime::Bytes& bytes : share(transport, found.take()))
    if (!bytes.empty()) out = std::move(bytes);
  return out;
}

void check_alike(Transport& transport, const Coordinates& entries) {
  if (transport.size() == 1) return;
  Hasher all;
  all.all(std::span<const int64_t>(entries.dims()));
  all.word(uint64_t(entries.type()));
  all.word(uint64_t(entries.size()));
  for (size_t d = 0; d < entries.order(); d++) all.all(entries.column(d));
  all.bytes(entries.value_bytes(), size_t(entries.size()) * size_of(entries.type()));
  agree_same(transport, all.value(), "the list of entries");
}

Result<> verify(Transport& transport, const Home& home) {
  Coordinates all = gather(transport, home);
  int64_t elements = all.size();
  Tree tree(home.format(), home.dims());
  // What a level stores in any order a packed whole stores in another.
  const std::vector<LevelFormat>& levels = home.format().levels();
  bool in_order = std::all_of(levels.begin(), levels.end(), keeps_order);
  auto fault = [&]() -> std::string {
    Storage whole = pack(std::move(all), home.format());
    if (home.nnz() != elements) return fmt::format("{} elements are counted, there are {}", home.nnz(), elements);
    for (size_t k = 0; k < home.order(); k++)
      if (home.positions(k) != whole.pattern().level(k).positions)
        return fmt::format("level {} is said to have {} positions, it has {}", k, home.positions(k),
                           whole.pattern().level(k).positions);
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
      const Pattern& piece = home.piece(c).pattern();
      if (auto result = verify(piece); !result) return fmt::format("piece {}: {}", c, result.refusal().message);
      if (!home.ordered() || !in_order) continue;
      for (size_t k = 0; k < home.order(); k++) {
        int64_t n = piece.level(k).positions, base = home.base(c, k);
        for (int64_t p : {int64_t(0), n / 2, n - 1})
          if (n > 0 && path_to(piece, k, p) != path_to(whole.pattern(), k, base + p))
            return fmt::format("position {} of level {} of piece {} is not position {} of the whole", p, k, c,
                               base + p);
      }
    }
    return {};
  };
  std::string mine = runtime::together(transport, fault);
  runtime::Writer out;
  out.put_text(mine);
  std::vector<runtime::Bytes> texts = share(transport, out.take());
  for (size_t r = 0; r < texts.size(); r++)
    if (std::string text = runtime::Reader(texts[r]).take_text(); !text.empty())
      return Diagnostic{fmt::format("rank {}: {}", r, text), {}, {}};
  return {};
}

}  // namespace spdistal
