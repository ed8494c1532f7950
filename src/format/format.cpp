#include "spdistal/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "base/lexer.hpp"
#include "base/text.hpp"
#include "format/fill.hpp"
#include "format/non_zero.hpp"
#include "format/questions.hpp"
#include "format/registry.hpp"
#include "machine/print.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

std::vector<int> identity(size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

std::string_view LevelFormat::name() const {
  return std::visit([](const auto& level) { return level.name; }, static_cast<const LevelVariant&>(*this));
}
char LevelFormat::letter() const {
  return std::visit([](const auto& level) { return level.letter; }, static_cast<const LevelVariant&>(*this));
}
const LevelProperties& LevelFormat::properties() const {
  return std::visit([](const auto& level) -> const LevelProperties& { return level.properties; },
                    static_cast<const LevelVariant&>(*this));
}

std::span<const LevelArray> LevelFormat::arrays() const {
  return std::visit([](const auto& level) -> std::span<const LevelArray> { return level.arrays; },
                    static_cast<const LevelVariant&>(*this));
}

Format::Format(std::vector<LevelFormat> levels) : levels_(std::move(levels)), mode_order_(identity(levels_.size())) {
  check();
}
Format::Format(std::vector<LevelFormat> levels, std::vector<int> order)
    : levels_(std::move(levels)), mode_order_(std::move(order)) {
  check();
}
Format::Format(std::vector<LevelFormat> levels, Distribution distribution)
    : levels_(std::move(levels)), mode_order_(identity(levels_.size())), distribution_(std::move(distribution)) {
  check();
}
Format::Format(std::vector<LevelFormat> levels, std::vector<int> order, Distribution distribution)
    : levels_(std::move(levels)), mode_order_(std::move(order)), distribution_(std::move(distribution)) {
  check();
}
size_t Format::level_of(size_t dimension) const {
  return size_t(std::find(mode_order_.begin(), mode_order_.end(), int(dimension)) - mode_order_.begin());
}

bool Format::is_dense() const { return std::all_of(levels_.begin(), levels_.end(), stores_all); }

std::string Format::str() const {
  std::string out;
  for (const LevelFormat& level : levels_) out += level.letter();
  if (mode_order_ != identity(order())) out += ":" + join(mode_order_, ",", [](int d) { return std::to_string(d); });
  if (!blocks_.empty()) out += "/" + join(blocks_, "x", [](int64_t size) { return std::to_string(size); });
  if (fill_) out += "=" + print_fill(*fill_);
  return out;
}

// Kept in the widest type of its kind, so that formats which mean the same are the same.
Format Format::filled(Scalar value) const {
  Format out = *this;
  out.fill_.reset();
  out.fill_ = std::visit(
      [](auto v) -> std::optional<Scalar> {
        if (v == decltype(v){}) return std::nullopt;
        if constexpr (std::is_integral_v<decltype(v)>) return int64_t(v);
        else if constexpr (std::is_floating_point_v<decltype(v)>) return double(v);
        else return std::complex<double>(v);
      },
      static_cast<const ScalarVariant&>(value));
  // Places that are there without anything stored at them hold zeros.
  auto first = std::find_if_not(levels_.begin(), levels_.end(), stores_all);
  bool gaps = std::any_of(first, levels_.end(), [](const LevelFormat& level) {
    return level.properties().placed || level.properties().fills;
  });
  if (out.fill_ && gaps)
    throw UserError(
        fmt::format("the format '{}' has places for what is not stored, which hold zeros and cannot count as {}", str(),
                    print_fill(*out.fill_)),
        "store coordinates that occur and no others, below dense levels or none: ds, ss, uq, dh");
  return out;
}

Format Format::blocked(std::vector<int64_t> sizes) const {
  if (sizes.empty() || 2 * sizes.size() != order())
    throw UserError(
        fmt::format("the format '{}' of order {} does not store blocks of {} dimension{}", str(), order(), sizes.size(),
                    sizes.size() == 1 ? "" : "s"),
        "blocks have two levels for each dimension: dsdd/4x4 is a matrix of blocks of 4 rows and 4 columns");
  for (int64_t size : sizes)
    if (size < 1)
      throw UserError(fmt::format("blocks of size {} hold nothing", size), "a block has a size of 1 or more");
  Format out = *this;
  out.blocks_ = std::move(sizes);
  return out;
}

namespace {

using RefuseDistribution =
    std::function<void(const DistributionPart& part, const std::string& message, const std::string& hint)>;

// A dimension whose blocks have non-zeros that are dealt out: those lie together, and are others than places that all blocks have.
void check_rows(const Format& format, size_t dim, size_t deepest, const DistributionPrinter& print,
                const RefuseDistribution& refuse) {
  const Distribution& distribution = *format.distribution();
  for (size_t level = 0; level < distribution.levels().size(); level++)
    for (size_t d = 0; d < distribution.levels()[level].size(); d++) {
      const DistVar* var = distribution.levels()[level][d].var();
      if (!var || !(*var == distribution.dims()[dim])) continue;
      DistributionPart here{DistributionPart::Kind::Placement, level, d};
      const LevelFormat& rows = format.levels()[0];
      auto name = [&](size_t k) { return print.name(distribution.dims()[size_t(format.mode_order()[k])]); };
      if (format.level_of(dim) > 0)
        refuse(here,
               fmt::format("the format '{}' stores {} above {}, so that non-zeros of blocks of {} do not lie together",
                           format.str(), name(0), print.name(*var), print.name(*var)),
               fmt::format("place {} so, or the non-zeros alone", name(0)));
      if (!is_ordered(rows) || fills_between(rows))
        refuse(here,
               fmt::format("the format '{}' does not store the non-zeros of blocks of {} one after the other",
                           format.str(), print.name(*var)),
               fmt::format("make its first level {} or {}", levels::Dense::name, levels::Compressed::name));
      auto last = format.levels().begin() + long(deepest);
      if (std::all_of(format.levels().begin(), last + 1, counts_places) ||
          std::all_of(last, format.levels().end(), counts_places))
        refuse(
            here,
            fmt::format("non-zeros of blocks of {} are counted down to {}, of which the format '{}' has all, stored or "
                        "not",
                        print.name(*var), name(deepest), format.str()),
            fmt::format("place {} by its coordinates, beside {}", name(deepest), print.name(*var)));
    }
}

}  // namespace

void Format::check() const {
  auto refuse = [&](const std::string& message, const std::string& hint) {
    throw UserError(Diagnostic{message, {}, hint});
  };
  std::vector<int> sorted = mode_order_;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != identity(order()))
    refuse(
        fmt::format("the order {} is no arrangement of {} dimension{}",
                    join(mode_order_, ",", [](int d) { return std::to_string(d); }), order(), order() == 1 ? "" : "s"),
        fmt::format("it names each of {} once, the outermost first",
                    join(identity(order()), ",", [](int d) { return std::to_string(d); })));
  for (size_t k = 0; k < order(); k++) {
    if (!levels_[k].properties().branchless) continue;
    bool follows = k > 0 && (levels_[k - 1].properties().branchless || !levels_[k - 1].properties().unique);
    if (!follows)
      refuse(fmt::format("level {} is {}: it stores one coordinate for each position of the level above, so that level "
                         "must be CompressedNonUnique or Singleton",
                         k + 1, levels_[k].name()),
             fmt::format("coordinate lists of order {} are written '{}', or COO({})", std::max<size_t>(2, order()),
                         COO(std::max<size_t>(2, order())).str(), std::max<size_t>(2, order())));
  }
  if (!distribution_) return;

  DistributionPrinter print(*distribution_);
  auto refuse_distribution = [&](const DistributionPart& part, const std::string& message, const std::string& hint) {
    throw UserError(Diagnostic{message, {print.excerpt(part)}, hint});
  };
  if (distribution_->dims().size() != order())
    refuse_distribution(
        {DistributionPart::Kind::Dims},
        fmt::format("the distribution names {} dimension{}, the format stores {}", distribution_->dims().size(),
                    distribution_->dims().size() == 1 ? "" : "s", order()),
        "write one name for each dimension of the tensor");
  std::vector<DistVar> named;  // every name that is placed, or goes into a fusion
  for (const DistFusion& fusion : distribution_->fusions())
    named.insert(named.end(), fusion.vars.begin(), fusion.vars.end());
  for (const std::vector<Placement>& placements : distribution_->levels())
    for (const Placement& placement : placements)
      if (placement.var()) named.push_back(*placement.var());
  auto contains = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (size_t level = 0; level < distribution_->levels().size(); level++)
    for (size_t d = 0; d < distribution_->levels()[level].size(); d++) {
      auto* non_zero = std::get_if<NonZero>(&distribution_->levels()[level][d].what());
      if (!non_zero) continue;
      DistributionPart here{DistributionPart::Kind::Placement, level, d};
      // The positions of level k count everything above it too: an even split of them is one of the first k dimensions,
      // which leaves no other place for those above.
      std::vector<size_t> dims = distribution_->dims_of(non_zero->var);
      std::string name = print.name(non_zero->var);
      std::vector<std::string> all, left_out;
      size_t deepest = 0;
      for (size_t dim : dims) deepest = std::max(deepest, level_of(dim));
      for (size_t k = 0; k <= deepest; k++) {
        auto dim = size_t(mode_order_[k]);
        all.push_back(print.name(distribution_->dims()[dim]));
        if (has_blocks_of(*this, *distribution_, non_zero->var, dim))
          check_rows(*this, dim, deepest, print, refuse_distribution);
        else if (!contains(dims, dim) && contains(named, distribution_->dims()[dim])) left_out.push_back(all.back());
      }
      if (!left_out.empty())
        refuse_distribution(
            here,
            fmt::format("~{}: the stored coordinates of {} are counted below those of {}, which {} "
                        "placed otherwise",
                        name, name, enumerate(left_out), left_out.size() == 1 ? "is" : "are"),
            fmt::format("fuse({},f) and ~f split them evenly{}", join(all, ","),
                        left_out == std::vector{all[0]}
                            ? fmt::format("; M({},~{}) splits those of each block of {}", all[0], name, all[0])
                            : ""));
      for (size_t k = deepest + 1; k < levels_split_by(*this, *distribution_, non_zero->var); k++)
        if (const DistVar& with = distribution_->dims()[size_t(mode_order_[k])]; contains(named, with))
          refuse_distribution(
              here,
              fmt::format("~{}: the format '{}' keeps one {} for each entry, so that it goes where the entry goes",
                          name, str(), print.name(with)),
              fmt::format("leave {} out: ~{} splits the entries evenly", print.name(with), name));
    }
}

namespace {

// The sizes of blocks behind the '/' of a format: "4x4".
std::vector<int64_t> parse_blocks(std::string_view text, size_t begin) {
  std::vector<int64_t> out;
  for (size_t at = begin; at <= text.size();) {
    size_t end = std::min(text.find('x', at), text.size());
    int64_t size = 0;
    auto [stop, fault] = std::from_chars(text.data() + at, text.data() + end, size);
    if (fault != std::errc{} || stop != text.data() + end)
      throw UserError(Diagnostic{"expected the size of a block",
                                 {{std::string(text), at, end}},
                                 "the sizes of blocks are written 4x4, one for each two levels: dsdd/4x4"});
    out.push_back(size);
    at = end + 1;
  }
  return out;
}

}  // namespace

Format Format::parse(std::string_view text) {
  if (size_t equals = text.find('='); equals != text.npos) {
    std::optional<Scalar> fill = parse_fill(text.substr(equals + 1));
    if (!fill)
      throw UserError(Diagnostic{"expected what elements that are not stored count as",
                                 {{std::string(text), equals + 1, text.size()}},
                                 "a fill value is a number, inf or -inf: ds=inf; without one it is 0"});
    return parse(text.substr(0, equals)).filled(*fill);
  }
  if (size_t slash = text.find('/'); slash != text.npos) {
    Format plain = parse(text.substr(0, slash));
    try {
      return plain.blocked(parse_blocks(text, slash + 1));
    } catch (const UserError& error) {
      Diagnostic d = error.diagnostic();
      if (d.excerpts.empty()) d.excerpts.push_back({std::string(text), slash + 1, text.size()});
      throw UserError(d);
    }
  }
  size_t colon = std::min(text.find(':'), text.size());
  std::vector<LevelFormat> levels;
  for (size_t at = 0; at < colon; at++) {
    auto level = level_of_letter(text[at]);
    size_t end = at + 1;  // of the whole UTF-8 character
    while (end < colon && (text[end] & 0xC0) == 0x80) end++;
    if (!level)
      throw UserError(Diagnostic{fmt::format("'{}' is no level format", text.substr(at, end - at)),
                                 {{std::string(text), at, end}},
                                 "the level formats are " + describe_levels()});
    levels.push_back(*level);
  }
  std::vector<int> order = identity(levels.size());
  if (colon < text.size()) {
    std::string_view tail = text.substr(colon + 1);
    Lexer in(tail, "order");
    order.clear();
    try {
      do {
        Token token = in.peek();
        int64_t dim = in.expect_integer("the number of a dimension");
        if (dim >= int64_t(levels.size())) in.fail(token, fmt::format("there is no dimension {}", dim));
        order.push_back(int(dim));
      } while (in.accept(","));
      in.expect_end();
    } catch (const UserError& error) {
      const Excerpt& part = error.diagnostic().excerpts.at(0);
      throw UserError(Diagnostic{error.diagnostic().message,
                                 {{std::string(text), part.begin + colon + 1, part.end + colon + 1}},
                                 "the order of dimensions is written 1,0 with the outermost first; they count from 0"});
    }
  }
  try {
    return Format(std::move(levels), std::move(order));
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostic();
    size_t begin = colon < text.size() && d.message.starts_with("the order") ? colon + 1 : 0;
    throw UserError(Diagnostic{d.message, {{std::string(text), begin, begin ? text.size() : colon}}, d.hint});
  }
}

Format BCSR(int64_t rows, int64_t columns) {
  return Format({Dense, Compressed, Dense, Dense}).blocked({rows, columns});
}

Format COO(size_t order) {
  std::vector<LevelFormat> levels;
  for (size_t k = 0; k < order; k++)
    levels.push_back(k > 0 ? LevelFormat(Singleton) : order > 1 ? LevelFormat(CompressedNonUnique) : Compressed);
  return Format(std::move(levels));
}

Format CSF(size_t order) { return Format(std::vector<LevelFormat>(order, Compressed)); }

}  // namespace spdistal
