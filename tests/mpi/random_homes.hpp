// Random formats, sizes, shares and entries, the same on every rank, and what a distributed tensor made of them must be:
// everything listed, element by element.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "format/registry.hpp"
#include "mpi/cases.hpp"
#include "spdistal/error.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/share.hpp"

namespace spdistal::runtime::testkit {

struct HomeCase {
  Format format;
  std::vector<int64_t> dims;
  Shares shares;
};

inline Format random_format(Random& random, size_t order) {
  for (;;) {
    std::vector<LevelFormat> levels;
    std::vector<LevelFormat> all = all_levels();
    for (size_t k = 0; k < order; k++) levels.push_back(all[size_t(pick(random, 0, int64_t(all.size()) - 1))]);
    std::vector<int> modes(order);
    for (size_t k = 0; k < order; k++) modes[k] = int(k);
    if (pick(random, 0, 1)) std::shuffle(modes.begin(), modes.end(), random);
    try {
      return Format(levels, modes);
    } catch (const UserError&) {}  // a Singleton where none can be
  }
}

/// Sizes that levels can afford which have more than what occurs; others may be far larger.
inline std::vector<int64_t> random_dims(Random& random, const Format& format) {
  std::vector<int64_t> dims(format.order());
  bool huge = pick(random, 0, 4) == 0;
  for (size_t k = 0; k < format.order(); k++) {
    int64_t& dim = dims[size_t(format.mode_order()[k])];
    dim = pick(random, 0, 9) == 0 ? pick(random, 0, 1) : pick(random, 2, 6);
    const LevelProperties& properties = format.levels()[k].properties();
    if (huge && !properties.placed && !properties.fills) dim = int64_t(1) << pick(random, 33, 60);
  }
  return dims;
}

/// What a machine dimension does to shares: `share_of(i)` narrows the share of its i-th coordinate.
inline void narrow(Random& random, const HomeCase& made, int64_t extent, size_t machine_dim, std::vector<Share>& shares,
                   const ColourGrid& grid) {
  size_t order = made.dims.size();
  auto for_each_colour = [&](auto&& f) {
    for (int64_t c = 0; c < grid.count(); c++) f(shares[size_t(c)], grid.point_of(c)[machine_dim]);
  };
  auto fits = [&](const std::vector<size_t>& dims) {
    int64_t product = 1;
    for (size_t d : dims)
      if (made.dims[d] == 0 || __builtin_mul_overflow(product, made.dims[d], &product)) return int64_t(0);
    return product;
  };
  if (order == 0) return;
  size_t d = size_t(pick(random, 0, int64_t(order) - 1));
  int64_t n = made.dims[d];
  switch (pick(random, 0, 8)) {
    case 0:  // a copy for each
      return;
    case 1: {  // one of them has all
      int64_t fixed = pick(random, 0, extent - 1);
      return for_each_colour([&](Share& share, int64_t i) {
        if (i != fixed) share.coordinates[d] = Space(1);
      });
    }
    case 2: {  // in turns
      if (n > 100) return;
      return for_each_colour([&](Share& share, int64_t i) {
        std::vector<Range> mine;
        for (int64_t x = i; x < n; x += extent) mine.push_back({x, x + 1});
        share.coordinates[d] = share.coordinates[d] & Space::from_intervals(mine);
      });
    }
    case 3:  // blocks with a margin
      return for_each_colour([&](Share& share, int64_t i) {
        Range mine = block(n, extent, i);
        share.coordinates[d] =
            share.coordinates[d] & Space::interval(std::max<int64_t>(0, mine.lo - 1), std::min(n, mine.hi + 1));
      });
    case 4: {  // numbers of several coordinates
      std::vector<size_t> fused(order);
      for (size_t k = 0; k < order; k++) fused[k] = k;
      if (pick(random, 0, 1))
        for (size_t k = 0; k < order; k++) fused[k] = size_t(made.format.mode_order()[k]);
      else std::shuffle(fused.begin(), fused.end(), random);
      fused.resize(size_t(pick(random, 1, int64_t(order))));
      int64_t all = fits(fused);
      if (all == 0) return;
      return for_each_colour([&](Share& share, int64_t i) { share.fused.push_back({fused, block(all, extent, i)}); });
    }
    case 5:
    case 6: {  // stored positions, or parts of what a machine dimension before has of them
      size_t level = size_t(pick(random, 0, int64_t(order) - 1));
      bool nested = pick(random, 0, 1) && !shares[0].positions.empty();
      return for_each_colour([&](Share& share, int64_t i) {
        if (nested) share.positions.back().part.parts.push_back({i, extent});
        else share.positions.push_back({level, {{{i, extent}}}});
      });
    }
    default:  // blocks
      return for_each_colour([&](Share& share, int64_t i) {
        Range mine = block(n, extent, i);
        share.coordinates[d] = share.coordinates[d] & Space::interval(mine.lo, mine.hi);
      });
  }
}

inline Shares random_shares(Random& random, const Format& format, const std::vector<int64_t>& dims) {
  std::vector<int64_t> extents(static_cast<size_t>(pick(random, 0, 3)));
  for (int64_t& extent : extents) extent = pick(random, 1, extents.size() == 1 ? 7 : 3);
  ColourGrid grid(extents);
  HomeCase made{format, dims, {grid, {}}};
  std::vector<Share> shares(size_t(grid.count()), whole_share(dims));
  for (size_t m = 0; m < extents.size(); m++) narrow(random, made, extents[m], m, shares, grid);
  return {grid, shares};
}

/// Rows by one machine dimension, and the positions of each block of them by another, where a format has them one after the other.
inline std::optional<Shares> shares_of_blocks(Random& random, const Format& format, const std::vector<int64_t>& dims) {
  if (dims.empty()) return {};
  ColourGrid grid({pick(random, 1, 4), pick(random, 1, 3)});
  std::vector<Share> shares(size_t(grid.count()), whole_share(dims));
  size_t level = size_t(pick(random, 0, int64_t(dims.size()) - 1)), rows = size_t(format.mode_order()[0]);
  for (int64_t c = 0; c < grid.count(); c++) {
    std::vector<int64_t> point = grid.point_of(c);
    Range mine = block(dims[rows], grid.extents()[0], point[0]);
    shares[size_t(c)].coordinates[rows] = mine.size() == 0 ? Space(1) : Space::interval(mine.lo, mine.hi);
    shares[size_t(c)].positions.push_back({level, {{{point[1], grid.extents()[1]}}}, mine});
  }
  Shares out{grid, shares};
  return check(out, format, dims) ? std::optional(out) : std::nullopt;
}

inline HomeCase random_home(Random& random) {
  Format format = random_format(random, size_t(pick(random, 0, 3)));
  std::vector<int64_t> dims = random_dims(random, format);
  if (pick(random, 0, 5) == 0)
    if (std::optional<Shares> blocks = shares_of_blocks(random, format, dims)) return {format, dims, *blocks};
  return {format, dims, random_shares(random, format, dims)};
}

/// Entries of every rank; sums of these values depend on the order of adding.
inline std::vector<Coordinates> random_parts(Random& random, const std::vector<int64_t>& dims, int ranks) {
  std::vector<Coordinates> out;
  bool none = std::find(dims.begin(), dims.end(), 0) != dims.end();
  int64_t most = pick(random, 0, 2) * pick(random, 0, 8);
  for (int r = 0; r < ranks; r++) {
    Coordinates& mine = out.emplace_back(dims, ScalarType::Float64);
    for (int64_t n = none ? 0 : pick(random, 0, most); n > 0; n--) {
      Point at;
      for (int64_t dim : dims)
        at.push_back(pick(random, 0, 1) ? pick(random, 0, std::min<int64_t>(dim - 1, 2)) : pick(random, 0, dim - 1));
      mine.add(std::span<const int64_t>(at), double(pick(random, -3, 3)) / 10);
    }
  }
  return out;
}

/// The same entries, dealt out by their coordinates of the first level: no two ranks have the same.
inline std::vector<Coordinates> in_rows(Random& random, const HomeCase& made, const std::vector<Coordinates>& parts) {
  if (made.dims.empty()) {
    std::vector<Coordinates> out;
    for (const Coordinates& part : parts) out.push_back(part.clone());
    return out;
  }
  size_t first = size_t(made.format.mode_order()[0]);
  std::vector<int64_t> cuts, to;
  for (size_t r = 0; r < parts.size(); r++) {
    cuts.push_back(pick(random, 0, std::min<int64_t>(made.dims[first], 6)));
    to.push_back(int64_t(r));
  }
  std::sort(cuts.begin(), cuts.end());
  std::shuffle(to.begin(), to.end(), random);
  std::vector<Coordinates> out;
  for (size_t r = 0; r < parts.size(); r++) out.emplace_back(made.dims, ScalarType::Float64);
  for (const Coordinates& part : parts)
    for (int64_t e = 0; e < part.size(); e++) {
      Point at;
      for (size_t d = 0; d < made.dims.size(); d++) at.push_back(part.column(d)[size_t(e)]);
      auto cut = std::upper_bound(cuts.begin() + 1, cuts.end(), at[first]) - cuts.begin() - 1;
      out[size_t(to[size_t(cut)])].add(std::span<const int64_t>(at), part.values<double>()[size_t(e)]);
    }
  return out;
}

/// The tensor, slowly.
struct Whole {
  std::map<Point, double> entries;                // by path (coordinates in storage order)
  std::map<Point, double> elements;               // the same, zeros of levels that store more too
  std::vector<std::map<Point, int64_t>> numbers;  // of each level: the paths of its positions, and their numbers
  std::vector<int64_t> positions;
  bool fills = false;  // a level stores what lies between coordinates: in a piece, between those of the piece

  /// What pieces must hold of some elements, whatever lies between.
  std::map<Point, double> certain(std::map<Point, double> some) const {
    if (fills)
      std::erase_if(some, [&](const auto& element) {
        if (entries.contains(element.first)) return false;
        EXPECT_EQ(element.second, 0);
        return true;
      });
    return some;
  }
};

/// The paths one level below some: every coordinate, those from the first to the last that occurs, or those that occur.
enum class Below : uint8_t { All, Between, Occurring };
inline std::set<Point> level_below(const std::set<Point>& above, const std::map<Point, double>& entries, size_t k,
                                   int64_t dim, Below below) {
  std::set<Point> here;
  for (const Point& parent : above) {
    std::set<int64_t> occurring;
    for (const auto& [path, value] : entries)
      if (std::equal(parent.begin(), parent.end(), path.begin())) occurring.insert(path[k]);
    auto add = [&](int64_t x) {
      Point path = parent;
      path.push_back(x);
      here.insert(path);
    };
    if (below == Below::All)
      for (int64_t x = 0; x < dim; x++) add(x);
    else if (below == Below::Between && !occurring.empty())
      for (int64_t x = *occurring.begin(); x <= *occurring.rbegin(); x++) add(x);
    else
      for (int64_t x : occurring) add(x);
  }
  return here;
}

inline Whole whole_of(const HomeCase& made, const std::vector<Coordinates>& parts) {
  Whole out;
  size_t order = made.dims.size();
  std::map<Point, double> entries;
  for (const Coordinates& part : parts)
    for (int64_t e = 0; e < part.size(); e++) {
      Point path;
      for (int d : made.format.mode_order()) path.push_back(part.column(size_t(d))[size_t(e)]);
      auto [place, fresh] = entries.emplace(path, part.values<double>()[size_t(e)]);
      if (!fresh) place->second += part.values<double>()[size_t(e)];
    }
  // Level by level: the paths of its positions, and of those that store something.
  std::set<Point> places{Point()}, above{Point()};
  for (size_t k = 0; k < order; k++) {
    int64_t dim = made.dims[size_t(made.format.mode_order()[k])];
    const LevelProperties& properties = made.format.levels()[k].properties();
    Below stored = properties.full ? Below::All : properties.fills ? Below::Between : Below::Occurring;
    above = level_below(above, entries, k, dim, stored);
    places = level_below(places, entries, k, dim, properties.placed ? Below::All : stored);
    out.fills |= properties.fills;
    // A level of tuples has a position for each tuple.
    size_t end = k;
    while (end + 1 < order && made.format.levels()[end + 1].properties().branchless) end++;
    std::map<Point, int64_t>& numbers = out.numbers.emplace_back();
    std::set<Point> tuples = places;
    if (end > k || properties.branchless) {
      tuples.clear();
      for (const auto& [path, value] : entries) tuples.insert(Point(path.begin(), path.begin() + int64_t(end) + 1));
    }
    for (const Point& path : tuples) numbers.emplace(path, int64_t(numbers.size()));
    out.positions.push_back(int64_t(numbers.size()));
  }
  out.entries = entries;
  for (const Point& path : above) out.elements.emplace(path, entries.contains(path) ? entries[path] : 0.0);
  return out;
}

inline Point from_path(const HomeCase& made, const Point& path) {
  Point at(path.size());
  for (size_t k = 0; k < path.size(); k++) at[size_t(made.format.mode_order()[k])] = path[k];
  return at;
}

/// The number of the position at a level that leads to an element.
inline int64_t number_of(const HomeCase& made, const Whole& whole, size_t level, const Point& path) {
  size_t end = level;
  while (end + 1 < path.size() && made.format.levels()[end + 1].properties().branchless) end++;
  return whole.numbers[level].at(Point(path.begin(), path.begin() + int64_t(end) + 1));
}

inline bool is_held(const HomeCase& made, const Whole& whole, int64_t colour, const Point& path) {
  const Share& share = made.shares.of[size_t(colour)];
  Point at = from_path(made, path);
  for (size_t d = 0; d < at.size(); d++)
    if (!share.coordinates[d].contains(at[d])) return false;
  for (const FusedRange& fused : share.fused) {
    int64_t number = 0;
    for (size_t d : fused.dims) number = number * made.dims[d] + at[d];
    if (!fused.range.contains(number)) return false;
  }
  // From the text of divisions: x = part * size + rest, where rest < size.
  for (const PositionBlock& split : share.positions) {
    int64_t x = number_of(made, whole, split.level, path), size = whole.positions[split.level];
    if (split.rows) {
      size = 0;
      for (const auto& [to, number] : whole.numbers[split.level]) {
        if (to[0] < split.rows->lo) x--;
        else if (to[0] < split.rows->hi) size++;
      }
    }
    for (const auto& [part, of] : split.part.parts) {
      size = (size + of - 1) / of;
      x -= part * size;
      if (x < 0 || x >= size) return false;
    }
  }
  return true;
}

inline std::string describe(const HomeCase& made) {
  std::string out = made.format.str() + " of";
  for (int64_t dim : made.dims) out += " " + std::to_string(dim);
  for (size_t c = 0; c < made.shares.of.size(); c++) {
    out += "\ncolour " + std::to_string(c) + ":";
    for (const Space& set : made.shares.of[c].coordinates) out += " " + to_string(set);
    for (const FusedRange& fused : made.shares.of[c].fused) {
      out += " fused";
      for (size_t d : fused.dims) out += " " + std::to_string(d);
      out += " in [" + std::to_string(fused.range.lo) + ", " + std::to_string(fused.range.hi) + ")";
    }
    for (const PositionBlock& split : made.shares.of[c].positions)
      for (const auto& [part, of] : split.part.parts)
        out += " part " + std::to_string(part) + " of " + std::to_string(of) + " of level " +
               std::to_string(split.level) + (split.rows ? " of rows" : "");
  }
  return out;
}

}  // namespace spdistal::runtime::testkit
