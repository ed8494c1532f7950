// FROSTT: a line per entry, coordinates from 1 and the value last; '#' starts a comment. A first comment "# dims: 4 5 6"
// gives the sizes, as it does in the files written here; else they are those that the reader knows, else the largest
// coordinates.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "io/entries.hpp"
#include "io/formats.hpp"
#include "io/number.hpp"
#include "io/text_writer.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

constexpr std::string_view dims_mark = "# dims:";

std::vector<int64_t> parse_dims(const TextReader& in, std::string_view line) {
  std::vector<int64_t> dims;
  for (size_t at = dims_mark.size(); at < line.size();) {
    if (is_blank(line[at])) {
      at++;
      continue;
    }
    size_t end = at;
    while (end < line.size() && !is_blank(line[end])) end++;
    uint64_t size = 0;
    if (read_index(line.data() + at, line.data() + end, size) != line.data() + end)
      in.fail(at, end, fmt::format("expected a size, found {}", describe_token(line.substr(at, end - at))));
    dims.push_back(int64_t(size));
    at = end;
  }
  return dims;
}

size_t count_words(std::string_view line) {
  size_t words = 0;
  for (size_t at = 0; at < line.size(); at++) words += !is_blank(line[at]) && (at == 0 || is_blank(line[at - 1]));
  return words;
}

struct FrosttHeader {
  std::optional<std::vector<int64_t>> dims;
  std::optional<size_t> words;  // on the first line with an entry
};

FrosttHeader read_header(TextReader& in) {
  FrosttHeader out;
  while (auto line = in.line()) {
    if (line->starts_with(dims_mark)) {
      out.dims = parse_dims(in, *line);
      continue;
    }
    out.words = count_words(*line);
    if (*out.words > 0 && trim(*line)[0] != '#') {
      in.unread();
      break;
    }
    out.words.reset();
  }
  return out;
}

runtime::Bytes write_header(const FrosttHeader& header) {
  runtime::Writer out;
  out.put(header.words ? int64_t(*header.words) : -1);
  out.put(header.dims ? int64_t(header.dims->size()) : -1);
  if (header.dims) out.put_all(std::span<const int64_t>(*header.dims));
  return out.take();
}

FrosttHeader take_header(const runtime::Bytes& bytes) {
  FrosttHeader out;
  runtime::Reader in(bytes);
  if (auto words = in.take<int64_t>(); words >= 0) out.words = size_t(words);
  if (auto order = in.take<int64_t>(); order >= 0) out.dims = in.take_all<int64_t>(size_t(order));
  return out;
}

// All sizes, where they are known and of as many dimensions as the entries have.
std::optional<std::vector<int64_t>> all_known(const std::vector<std::optional<int64_t>>& sizes,
                                              const std::optional<size_t>& words) {
  if (sizes.empty() || (words && *words != sizes.size() + 1)) return std::nullopt;
  std::vector<int64_t> out;
  for (const std::optional<int64_t>& size : sizes) {
    if (!size) return std::nullopt;
    out.push_back(*size);
  }
  return out;
}

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  TextReader in(transport, path);
  FrosttHeader header = take_header(in.header([&] { return write_header(read_header(in)); }));
  if (!header.dims) header.dims = options.dims ? options.dims : all_known(options.sizes, header.words);
  bool known = header.dims.has_value();
  std::vector<int64_t> dims = header.dims.value_or(std::vector<int64_t>());
  std::optional<size_t> words = header.words;
  if (!words && !known)
    in.fail_at_end("the file has no entries, so that nothing tells its order and sizes",
                   "a first line '# dims: 4 5 6' gives them");

  EntryLayout layout{.names = {}, .dims = {}, .field = Field::Real, .comment = '#', .type = ScalarType::Float64};
  size_t order = known ? dims.size() : *words - 1;
  for (size_t d = 0; d < order; d++) layout.names.push_back(fmt::format("coordinate of dimension {}", d));
  layout.dims = known ? dims : std::vector<int64_t>(order, INT64_MAX);
  if (!known && options.sizes.size() == order)
    for (size_t d = 0; d < order; d++) layout.dims[d] = options.sizes[d].value_or(INT64_MAX);
  // Where the order is known, the first line tells whether values are missing (all 1) or complex.
  if (known && words && order > 0 && *words == order) layout.field = Field::Pattern;
  if (known && words && *words == order + 2) layout.field = Field::Complex;
  ScalarType natural = layout.field == Field::Complex ? ScalarType::Complex128 : ScalarType::Float64;
  layout.type = options.type.value_or(natural);
  if (layout.field == Field::Complex && !is_complex(layout.type))
    in.fail_at_end(fmt::format("the file has complex values, which do not go into {}", name_of(layout.type)),
                   "read it as complex64 or complex128");
  Coordinates entries = in.entries(layout, std::nullopt);
  if (!known) {
    std::vector<int64_t> sizes(order);
    for (size_t d = 0; d < order; d++) {
      if (layout.dims[d] < INT64_MAX) sizes[d] = layout.dims[d];
      else
        for (int64_t c : entries.column(d)) sizes[d] = std::max(sizes[d], c + 1);
    }
    transport.allreduce(sizes.data(), sizes.size(), ScalarType::Int64, runtime::ReduceOp::Max);
    entries.set_dims(sizes);
  }
  return entries;
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  std::string sizes = join(home.dims(), "", [](int64_t size) { return fmt::format(" {}", size); });
  write_lines(transport, path, home, {.header = fmt::format("{}{}\n", dims_mark, sizes), .order = home.format()});
}

}  // namespace

const FileFormat frostt{.name = "FROSTT", .suffix = ".tns", .read = read, .write = write, .gzip = true};

}  // namespace spdistal
