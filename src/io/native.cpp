// Layout, in 64-bit words of the machine that wrote it:
//
//   magic "\x89SPD\r\n\x1a\n" | byte order mark | version | header words | checksum of the words after it
//   type | order | letter and dimension of each level | sizes | kind of fill value (0: none) and two words of it | pieces
//   per piece: per level lo, hi, positions and its arrays; then values
//   an array is: name, offset, elements, width, checksum
//   the arrays, each at a multiple of 64 bytes
//
// A reader believes nothing of it: sizes are checked against the file before memory is taken, arrays against their
// checksums, and the pattern by `verify`.
#include "io/native.hpp"

#include <fmt/format.h>

#include <optional>

#include "format/fill.hpp"
#include "format/registry.hpp"
#include "io/checksum.hpp"
#include "io/formats.hpp"
#include "io/source.hpp"
#include "level/level.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "runtime/transport/threads.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

constexpr char magic[8] = {'\x89', 'S', 'P', 'D', '\r', '\n', '\x1a', '\n'};
constexpr uint64_t order_mark = 0x0102030405060708, version = 4;
constexpr size_t fixed_words = 5, alignment = 64;

// A name as a word: its letters, then zeros.
uint64_t name_word(std::string_view name) {
  uint64_t word = 0;
  require(name.size() <= sizeof word, "the name of an array fits a word");
  memory::copy_bytes(&word, name.data(), name.size());
  return word;
}

struct ArrayWords {
  int64_t offset, count, width;
  uint64_t sum;
};

// ---- writing
// ---------------------------------------------------------------------------------------------------------

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

constexpr size_t words_of_array = 5, numbers_of_level = 3, words_of_a_fill = 3;
constexpr std::string_view values_name = "vals";

// The index arrays of each level.
std::vector<size_t> arrays_of_levels(const Format& format) {
  std::vector<size_t> out;
  for (const LevelFormat& level : format.levels()) out.push_back(level.arrays().size());
  return out;
}

size_t words_of_piece(const Format& format) {
  size_t words = words_of_array;
  for (size_t arrays : arrays_of_levels(format)) words += numbers_of_level + arrays * words_of_array;
  return words;
}

// Pieces as the header lists them, with no places yet, and their arrays in the same order.
struct Listed {
  struct Bytes {
    const std::byte* data;
    size_t size;
  };
  std::vector<uint64_t> words;
  std::vector<Bytes> arrays;

  void array(std::string_view name, const void* data, int64_t count, size_t width) {
    auto* bytes = static_cast<const std::byte*>(data);
    size_t size = size_t(count) * width;
    arrays.push_back({bytes, size});
    for (uint64_t w : {name_word(name), uint64_t(0), uint64_t(count), uint64_t(width), checksum(bytes, size)})
      words.push_back(w);
  }
  void piece(const Storage& piece) {
    for (const LevelArrays& level : piece.pattern().levels()) {
      for (int64_t w : {level.range.lo, level.range.hi, level.positions}) words.push_back(uint64_t(w));
      for (const auto& [name, a] : level.arrays) array(name, a.data(), a.size(), size_t(a.width()));
    }
    array(values_name, piece.value_bytes(), piece.nnz(), size_of(piece.type()));
  }
};

// f(the words of an array) for every array of some pieces.
template <class F>
void for_each_array(std::span<uint64_t> pieces, const Format& format, F&& f) {
  std::vector<size_t> levels = arrays_of_levels(format);
  for (size_t at = 0; at < pieces.size();) {
    auto next = [&] {
      f(pieces.subspan(at, words_of_array));
      at += words_of_array;
    };
    for (size_t arrays : levels) {
      at += numbers_of_level;
      for (size_t n = 0; n < arrays; n++) next();
    }
    next();
  }
}

// Of what is not stored: its type, counted from 1, and its real and imaginary part, or none.
std::vector<uint64_t> words_of_fill(const std::optional<Scalar>& fill) {
  std::vector<uint64_t> out(words_of_a_fill, 0);
  if (!fill) return out;
  out[0] = 1 + uint64_t(fill->type());
  std::visit([&](auto value) { memory::copy_bytes(&out[1], &value, sizeof value); },
             static_cast<const ScalarVariant&>(*fill));
  return out;
}

std::vector<uint64_t> words_of_tensor(const Format& format, const std::vector<int64_t>& dims, ScalarType type) {
  std::vector<uint64_t> out{uint64_t(type), dims.size()};
  for (size_t k = 0; k < dims.size(); k++) {
    out.push_back(uint64_t(format.levels()[k].letter()));
    out.push_back(uint64_t(format.mode_order()[k]));
  }
  for (int64_t dim : dims) out.push_back(uint64_t(dim));
  for (uint64_t word : words_of_fill(format.is_dense() ? std::nullopt : format.fill())) out.push_back(word);
  return out;
}

// Every rank writes its pieces where all agree that they go; the first writes the header, and gives the file its name
// when all are done.
void write_pieces(runtime::Transport& transport, const std::string& path, const Format& format,
                  const std::vector<int64_t>& dims, ScalarType type, std::span<const Storage* const> pieces) {
  Listed mine;
  std::optional<NewFile> file;
  runtime::Writer told;  // the words of this rank's pieces, and of the first the name of the new file
  runtime::together(
      transport,
      [&] {
        for (const Storage* piece : pieces) mine.piece(*piece);
        if (transport.rank() == 0) file.emplace(path);
        told.put_text(file ? file->beside() : "");
        told.put_all(std::span<const uint64_t>(mine.words));
      },
      runtime::NameRank::No);
  std::vector<runtime::Bytes> all = share(transport, told.take());
  size_t end = 0;
  runtime::together(transport, [&] {
    std::vector<uint64_t> words = words_of_tensor(format, dims, type);
    size_t count_at = words.size(), first = count_at + 1, own = 0;
    words.push_back(0);
    std::string beside;
    for (size_t r = 0; r < all.size(); r++) {
      runtime::Reader in(all[r]);
      std::string name = in.take_text();
      if (r == 0) beside = std::move(name);
      if (r == size_t(transport.rank())) own = words.size();
      while (!in.at_end()) words.push_back(in.take<uint64_t>());
    }
    words[count_at] = (words.size() - first) / words_of_piece(format);
    end = (fixed_words + words.size()) * sizeof(uint64_t);
    for_each_array(std::span(words).subspan(first), format, [&](std::span<uint64_t> array) {
      array[1] = aligned(end);
      end = array[1] + array[2] * array[3];
    });
    FilePart part(beside);
    size_t next = 0;
    for_each_array(std::span(words).subspan(own, mine.words.size()), format, [&](std::span<uint64_t> array) {
      part.write(mine.arrays[next].data, mine.arrays[next].size, array[1]);
      next++;
    });
    if (file) {
      uint64_t head[fixed_words] = {0, order_mark, version, words.size(), 0};
      memory::copy_bytes(head, magic, sizeof magic);
      head[4] = checksum(reinterpret_cast<const std::byte*>(words.data()), words.size() * sizeof(uint64_t));
      file->write(head, sizeof head);
      file->write(words.data(), words.size() * sizeof(uint64_t));
    }
    part.close();
  });
  runtime::together(
      transport,
      [&] {
        if (!file) return;
        file->resize(end);  // the last arrays may be empty
        file->commit();
      },
      runtime::NameRank::No);
}

// ---- reading
// ---------------------------------------------------------------------------------------------------------

class NativeReader {
 public:
  explicit NativeReader(const std::string& path) : path_(path), file_(map_file(path)) {
    uint64_t head[fixed_words];
    if (file_.bytes.size() < sizeof head || !memory::same_bytes(file_.bytes.data(), magic, sizeof magic))
      damaged("it does not start as such a file does");
    memory::copy_bytes(head, file_.bytes.data(), sizeof head);
    if (head[1] == __builtin_bswap64(order_mark)) damaged("it was written on a machine of the other byte order");
    if (head[1] != order_mark) damaged("its byte order mark is wrong");
    if (head[2] != version) damaged(fmt::format("it has version {}, this program reads version {}", head[2], version));
    size_t left = file_.bytes.size() / sizeof(uint64_t) - fixed_words;
    if (head[3] > left) damaged("its header goes beyond its end");
    words_.resize(head[3]);
    std::byte* start = file_.bytes.data() + sizeof head;
    if (checksum(start, head[3] * sizeof(uint64_t), reinterpret_cast<std::byte*>(words_.data())) != head[4])
      damaged("the checksum of its header is wrong");
    header_checksum_ = head[4];
    read_tensor();
  }

  /// Of all sizes, and of the checksums of all arrays.
  uint64_t header_checksum() const { return header_checksum_; }
  int64_t pieces() const { return pieces_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  ScalarType type() const { return type_; }
  const std::optional<Scalar>& fill() const { return format_.fill(); }

  Storage piece(int64_t number) {
    require(number >= 0 && number < pieces_, "the piece is one of the file's");
    at_ = first_piece_ + size_t(number) * piece_words();
    std::vector<LevelArrays> levels;
    for (size_t k = 0; k < dims_.size(); k++) {
      LevelArrays level;
      level.dim = dims_[size_t(format_.mode_order()[k])];
      level.range.lo = number_word(), level.range.hi = number_word(), level.positions = number_word();
      for (const LevelArray& array : format_.levels()[k].arrays())
        level.arrays.push_back({array.name, indices(array.name)});
      levels.push_back(std::move(level));
    }
    auto pattern = std::make_shared<const Pattern>(format_, dims_, std::move(levels));
    if (auto sound = verify(*pattern); !sound) damaged(sound.refusal().message);
    ArrayWords values = array_words(values_name, size_of(type_));
    if (values.count != pattern->nnz())
      damaged(fmt::format("it has {} values for {} stored elements", values.count, pattern->nnz()));
    Buffer bytes = load(values);
    if (type_ == ScalarType::Bool)
      for (size_t i = 0; i < bytes.size(); i++)
        if (bytes.data()[i] > std::byte(1)) damaged("a bool in it is neither true nor false");
    return Storage(std::move(pattern), type_, std::move(bytes));
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw UserError(fmt::format("{}: no sound .spd file: {}", path_, what));
  }

  uint64_t word() {
    if (at_ == words_.size()) damaged("its header ends too early");
    return words_[at_++];
  }
  int64_t number_word() {
    uint64_t w = word();
    if (w > uint64_t(INT64_MAX)) damaged("a size in its header is negative");
    return int64_t(w);
  }

  void read_tensor() {
    uint64_t type = word();
    if (type >= std::size(all_scalar_types)) damaged(fmt::format("there is no element type {}", type));
    type_ = all_scalar_types[type];
    uint64_t order = word();
    if (order > words_.size()) damaged("its header ends too early");
    std::vector<LevelFormat> levels;
    std::vector<int> modes;
    for (uint64_t k = 0; k < order; k++) {
      uint64_t letter = word(), mode = word();
      auto level = letter < 128 ? level_of_letter(char(letter)) : std::nullopt;
      if (!level) damaged("there is a level format in it that this program does not know");
      levels.push_back(*level);
      modes.push_back(mode < order ? int(mode) : -1);
    }
    for (uint64_t d = 0; d < order; d++) dims_.push_back(number_word());
    try {
      format_ = Format(std::move(levels), std::move(modes));
      if (std::optional<Scalar> fill = read_fill()) {
        format_ = format_.filled(*fill);
        fill_value(format_, type_);
      }
    } catch (const UserError& error) { damaged(error.diagnostic().message); }
    pieces_ = number_word();
    first_piece_ = at_;
    uint64_t left = words_.size() - at_;
    if (left % piece_words() != 0 || left / piece_words() != uint64_t(pieces_))
      damaged(fmt::format("its header does not have room for {} pieces", pieces_));
  }

  std::optional<Scalar> read_fill() {
    uint64_t kind = word(), parts[] = {word(), word()};
    if (kind == 0) return std::nullopt;
    if (kind > std::size(all_scalar_types)) damaged(fmt::format("there is no element type {}", kind - 1));
    return with_type(all_scalar_types[kind - 1], [&](auto value) -> Scalar {
      if constexpr (std::is_same_v<decltype(value), bool>) return parts[0] != 0;
      else return memory::load<decltype(value)>(reinterpret_cast<const std::byte*>(parts));
    });
  }

  size_t piece_words() const { return words_of_piece(format_); }

  ArrayWords array_words(std::string_view name, size_t width) {
    if (word() != name_word(name)) damaged(fmt::format("it has another array in the place of {}", name));
    ArrayWords out{number_word(), number_word(), number_word(), word()};
    if (size_t(out.width) != width && width != 0) damaged("an array has elements of the wrong size");
    int64_t bytes = 0;
    if (__builtin_mul_overflow(out.count, out.width, &bytes) || size_t(out.offset) > file_.bytes.size() ||
        size_t(bytes) > file_.bytes.size() - size_t(out.offset))
      damaged("an array goes beyond its end");
    return out;
  }

  Buffer load(const ArrayWords& array) {
    size_t bytes = size_t(array.count) * size_t(array.width);
    Buffer out = Buffer::uninitialized(bytes);
    if (checksum(file_.bytes.data() + array.offset, bytes, out.data()) != array.sum)
      damaged(fmt::format("the checksum of the array at byte {} is wrong", array.offset));
    return out;
  }

  IndexArray indices(std::string_view name) {
    ArrayWords array = array_words(name, 0);
    if (array.width != 1 && array.width != 4 && array.width != 8)
      damaged("an index array has elements of the wrong size");
    return IndexArray(load(array), IndexWidth(array.width));
  }

  std::string path_;
  MappedFile file_;
  std::vector<uint64_t> words_;
  uint64_t header_checksum_ = 0;
  size_t at_ = 0, first_piece_ = 0;
  ScalarType type_{};
  Format format_;
  std::vector<int64_t> dims_;
  int64_t pieces_ = 0;
};

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  uint64_t header = 0;
  Contents out = runtime::together(
      transport,
      [&]() -> Contents {
        NativeReader in(path);
        header = in.header_checksum();
        check_fill(path, in.fill(), in.type(), options);
        if (in.pieces() == 0) throw UserError(fmt::format("{}: the file has no pieces", path));
        if (in.pieces() == 1 && transport.size() == 1) return in.piece(0);
        Range mine = block(in.pieces(), transport.size(), transport.rank());
        Coordinates all(in.dims(), in.type());
        for (int64_t k = mine.lo; k < mine.hi; k++) all.append(unpack(in.piece(k)));
        return all;
      },
      runtime::NameRank::No);
  runtime::agree_same(transport, header, fmt::format("the file '{}'", path));
  return out;
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  // Pieces that share what they store with others are cut anew, so that every element is in the file once.
  std::optional<Home> cut;
  if (!is_cut_clean(transport, home))
    cut = redistribute(transport, home, home.format(), blocked(home.format(), home.dims(), transport.size()));
  const Home& from = cut ? *cut : home;
  std::vector<const Storage*> pieces;
  for (int64_t c = from.colours().lo; c < from.colours().hi; c++)
    if (!from.owns_nothing(c)) pieces.push_back(&from.piece(c));
  // A tensor without elements has a piece too.
  bool nobody = transport.allreduce(int64_t(pieces.size()), runtime::ReduceOp::Max) == 0;
  if (nobody && from.colours().contains(0)) pieces.push_back(&from.piece(0));
  write_pieces(transport, path, from.format(), from.dims(), from.type(), pieces);
}

}  // namespace

void write_native(const std::string& path, std::span<const Storage* const> pieces) {
  require(!pieces.empty(), "a tensor has a piece");
  const Storage& first = *pieces[0];
  for (const Storage* piece : pieces)
    require(piece->format() == first.format() && piece->dims() == first.dims() && piece->type() == first.type(),
            "the pieces of a file are of one tensor");
  write_pieces(*runtime::loopback(), path, first.format(), first.dims(), first.type(), pieces);
}

int64_t native_pieces(const std::string& path) { return NativeReader(path).pieces(); }

Storage read_native_piece(const std::string& path, int64_t piece) { return NativeReader(path).piece(piece); }

const FileFormat native{.name = "native", .suffix = ".spd", .read = read, .write = write, .keeps_storage = true};

}  // namespace spdistal
