// Matrix Market: "%%MatrixMarket matrix coordinate real general", comments, a line of sizes, then a line per entry
// (coordinate) or per element of the columns in turn (array). Symmetric kinds list one triangle.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "io/entries.hpp"
#include "io/formats.hpp"
#include "io/number.hpp"
#include "io/symmetry.hpp"
#include "io/text_writer.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

enum class MatrixLayout : uint8_t { Coordinate, Array };

struct Header {
  MatrixLayout layout = MatrixLayout::Coordinate;
  Field field = Field::Real;
  Symmetry symmetry = Symmetry::General;
  int64_t rows = 0, columns = 0, entries = 0;  // entries: lines to come
};

struct BannerWord {
  size_t begin, end;
  std::string_view text;
};

std::vector<BannerWord> words_of(std::string_view line) {
  std::vector<BannerWord> out;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && is_blank(line[at])) at++;
    size_t end = at;
    while (end < line.size() && !is_blank(line[end])) end++;
    if (end > at) out.push_back({at, end, line.substr(at, end - at)});
    at = end;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

constexpr std::string_view banner = "%%matrixmarket";
constexpr std::string_view example = "a file starts with '%%MatrixMarket matrix coordinate real general'";

// One of the choices of a word of the first line.
template <class Choice>
Choice choose(const TextReader& in, std::string_view line, const std::vector<BannerWord>& words, size_t at,
              std::string_view what, const std::vector<std::string>& names) {
  if (at >= words.size())
    in.fail(line.size(), line.size(), fmt::format("expected {}, found the end of the line", what),
            fmt::format("it is one of {}", enumerate(names, "or")));
  const BannerWord& word = words[at];
  auto found = std::find(names.begin(), names.end(), lower(word.text));
  if (found == names.end())
    in.fail(word.begin, word.end, fmt::format("expected {}, found {}", what, describe_token(word.text)),
            suggest(lower(word.text), names, "it is one of"));
  return Choice(found - names.begin());
}

int64_t size_word(const TextReader& in, std::string_view line, const std::vector<BannerWord>& words, size_t at,
                  std::string_view what) {
  if (at >= words.size())
    in.fail(line.size(), line.size(), fmt::format("expected {}, found the end of the line", what));
  const BannerWord& word = words[at];
  uint64_t value = 0;
  const char* end = word.text.data() + word.text.size();
  if (read_index(word.text.data(), end, value) != end)
    in.fail(word.begin, word.end, fmt::format("expected {}, found {}", what, describe_token(word.text)));
  return int64_t(value);
}

Header read_header(TextReader& in) {
  Header out;
  auto first = in.line();
  if (!first) in.fail_at_end("the file is empty", std::string(example));
  std::vector<BannerWord> words = words_of(*first);
  if (words.empty() || lower(words[0].text) != banner)
    in.fail(words.empty() ? 0 : words[0].begin, words.empty() ? 0 : words[0].end,
            fmt::format("expected '%%MatrixMarket', found {}", describe_token(words.empty() ? "" : words[0].text)),
            std::string(example));
  choose<int>(in, *first, words, 1, "'matrix'", {"matrix"});
  out.layout = choose<MatrixLayout>(in, *first, words, 2, "'coordinate' or 'array'", {"coordinate", "array"});
  out.field = choose<Field>(in, *first, words, 3, "the kind of values", {"pattern", "integer", "real", "complex"});
  out.symmetry =
      choose<Symmetry>(in, *first, words, 4, "the symmetry", {"general", "symmetric", "skew-symmetric", "hermitian"});
  if (words.size() > 5)
    in.fail(words[5].begin, words[5].end,
            fmt::format("expected the end of the line, found {}", describe_token(words[5].text)));
  if (out.field == Field::Pattern && out.layout == MatrixLayout::Array)
    in.fail(words[3].begin, words[3].end, "an array has values: it cannot be 'pattern'");
  if (out.symmetry == Symmetry::Hermitian && out.field != Field::Complex)
    in.fail(words[4].begin, words[4].end, "only complex matrices are 'hermitian'", "a real one is 'symmetric'");
  if (out.symmetry == Symmetry::Skew && out.field == Field::Pattern)
    in.fail(words[4].begin, words[4].end, "a pattern has no signs: it cannot be 'skew-symmetric'");

  while (auto line = in.line()) {
    words = words_of(*line);
    if (words.empty() || words[0].text[0] == '%') continue;
    out.rows = size_word(in, *line, words, 0, "the number of rows");
    out.columns = size_word(in, *line, words, 1, "the number of columns");
    size_t count = 2;
    if (out.layout == MatrixLayout::Coordinate) {
      out.entries = size_word(in, *line, words, count++, "the number of entries");
    } else {
      // The lower triangle by columns: n (n + 1) / 2 elements, without the diagonal n (n - 1) / 2.
      int64_t width = out.symmetry == Symmetry::General ? out.columns
                      : out.symmetry == Symmetry::Skew  ? out.rows - 1
                      : out.rows == INT64_MAX           ? out.rows
                                                        : out.rows + 1;
      if (__builtin_mul_overflow(out.rows, width, &out.entries))
        in.fail(words[0].begin, words[1].end, "the array has more than 2^63 - 1 elements");
      if (out.symmetry != Symmetry::General) out.entries /= 2;
    }
    if (words.size() > count)
      in.fail(words[count].begin, words[count].end,
              fmt::format("expected the end of the line, found {}", describe_token(words[count].text)),
              out.layout == MatrixLayout::Coordinate ? "the sizes are: rows, columns, entries"
                                                     : "the sizes of an array are: rows, columns");
    if (out.symmetry != Symmetry::General && out.rows != out.columns)
      in.fail(words[0].begin, words[1].end, fmt::format("a matrix of {} x {} has no symmetry", out.rows, out.columns),
              "a symmetric matrix has as many columns as rows");
    return out;
  }
  in.fail_at_end("expected the line of sizes, found the end of the file");
}

// One triangle is listed, over all ranks. Collective.
void check_triangle(runtime::Transport& transport, const TextReader& in, const EntryLayout& layout, Symmetry symmetry,
                    const Coordinates& entries) {
  // The first entries below, above and on the diagonal, by their numbers in the file.
  int64_t none = in.entries_in_all(), first[3] = {none, none, none};
  std::span<const int64_t> i = entries.column(0), j = entries.column(1);
  for (size_t e = i.size(); e-- > 0;) first[i[e] > j[e] ? 0 : i[e] < j[e] ? 1 : 2] = in.entries_before() + int64_t(e);
  transport.allreduce(first, 3, ScalarType::Int64, runtime::ReduceOp::Min);
  int64_t lower_entry = first[0], upper_entry = first[1], diagonal = first[2];
  bool both = lower_entry < none && upper_entry < none;
  if (!both && !(symmetry == Symmetry::Skew && diagonal < none)) return;
  auto say = [&] {
    if (transport.rank() != 0) return;
    if (both)
      in.fail_at_entry(
          std::max(lower_entry, upper_entry), layout,
          fmt::format("an entry {} the diagonal, after others {} it", upper_entry > lower_entry ? "above" : "below",
                      upper_entry > lower_entry ? "below" : "above"),
          "a file with a symmetry lists one triangle; the other follows from it");
    in.fail_at_entry(diagonal, layout, "an entry on the diagonal of a skew-symmetric matrix",
                     "the diagonal of such a matrix is zero and not listed");
  };
  runtime::together(transport, say, runtime::NameRank::No);
}

// The elements of an array in the order of the file, `before` of which are elsewhere, get their coordinates.
Coordinates place(const Header& header, int64_t before, Coordinates values) {
  int64_t n = values.size();
  std::vector<Array<int64_t>> columns;
  columns.emplace_back(n), columns.emplace_back(n);
  int64_t e = 0, j = 0, skip = before;  // elements of column j that come before
  if (header.symmetry == Symmetry::General && header.rows > 0) j = before / header.rows, skip = before % header.rows;
  for (; e < n; j++) {
    int64_t first = header.symmetry == Symmetry::General ? 0 : header.symmetry == Symmetry::Skew ? j + 1 : j;
    int64_t begin = first + std::min(skip, header.rows - first);
    skip -= begin - first;
    for (int64_t i = begin; i < header.rows && e < n; i++, e++) columns[0][e] = i, columns[1][e] = j;
  }
  ScalarType type = values.type();
  Array<std::byte> bytes(n * int64_t(size_of(type)));
  memory::copy_bytes(bytes.data(), values.value_bytes(), size_t(bytes.size()));
  return Coordinates({header.rows, header.columns}, type, std::move(columns), std::move(bytes));
}

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  TextReader in(transport, path);
  runtime::Bytes bytes = in.header([&] {
    runtime::Writer out;
    out.put(read_header(in));
    return out.take();
  });
  Header header = runtime::Reader(bytes).take<Header>();
  constexpr ScalarType natural[] = {ScalarType::Float64, ScalarType::Int64, ScalarType::Float64,
                                    ScalarType::Complex128};
  ScalarType type = options.type.value_or(natural[size_t(header.field)]);
  if (header.field == Field::Complex && !is_complex(type))
    in.fail_at_end(fmt::format("the file has complex values, which do not go into {}", name_of(type)),
                   "read it as complex64 or complex128");
  EntryLayout layout{.names = {}, .dims = {}, .field = header.field, .comment = '%', .type = type};
  if (header.layout == MatrixLayout::Coordinate) {
    layout.names = {"row", "column"};
    layout.dims = {header.rows, header.columns};
  }
  Coordinates entries = in.entries(layout, header.entries);
  if (in.entries_in_all() < header.entries)
    in.fail_at_end(fmt::format("expected {} entries, found {}", header.entries, in.entries_in_all()),
                   "the file may have been cut short");
  if (header.symmetry != Symmetry::General && header.layout == MatrixLayout::Coordinate)
    check_triangle(transport, in, layout, header.symmetry, entries);
  return runtime::together(transport, [&] {
    if (header.layout == MatrixLayout::Array) entries = place(header, in.entries_before(), std::move(entries));
    if (header.symmetry != Symmetry::General) entries = mirror(header.symmetry, std::move(entries));
    return std::move(entries);
  });
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  if (home.order() > 2)
    throw UserError(fmt::format("{}: a tensor of order {} is no matrix", path, home.order()),
                    ".tns and .spd files hold tensors of any order");
  std::string_view field = is_complex(home.type()) ? "complex" : is_integral(home.type()) ? "integer" : "real";
  int64_t rows = home.order() > 0 ? home.dims()[0] : 1, columns = home.order() > 1 ? home.dims()[1] : 1;
  if (home.format().is_dense()) {  // by columns
    write_lines(transport, path, home,
                {.header = fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field, rows, columns),
                 .order = home.order() == 2 ? Format({Dense, Dense}, {1, 0}) : home.format(),
                 .columns = ShownColumns::None});
    return;
  }
  write_lines(transport, path, home,
              {.header = fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, rows, columns,
                                     home.nnz()),
               .order = home.format(),
               .after = home.order() == 1 ? "1 " : ""});  // a vector is a column
}

}  // namespace

const FileFormat matrix_market{
    .name = "Matrix Market", .suffix = ".mtx", .read = read, .write = write, .gzip = true, .matrices = true};

}  // namespace spdistal
