// Layout, in 64-bit words of the machine that wrote it:
//
//   magic "\x89SPD\r\n\x1a\n" | byte order mark | version | header words | checksum of the words after it
//   type | order | letter and dimension of each level | sizes | pieces
//   per piece: per level lo, hi, positions, pos, crd; then values       an array is: offset, elements, width, checksum
//   the arrays, each at a multiple of 64 bytes
//
// A reader believes nothing of it: sizes are checked against the file before memory is taken, arrays against their
// checksums, and the pattern by `verify`.
#include "io/native.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "format/registry.hpp"
#include "io/checksum.hpp"
#include "io/formats.hpp"
#include "io/source.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

constexpr char magic[8] = {'\x89', 'S', 'P', 'D', '\r', '\n', '\x1a', '\n'};
constexpr uint64_t order_mark = 0x0102030405060708, version = 1;
constexpr size_t fixed_words = 5, alignment = 64;

struct ArrayWords {
  int64_t offset, count, width;
  uint64_t sum;
};

// ---- writing
// ---------------------------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  void word(uint64_t w) { words_.push_back(w); }
  // Lists an array; its bytes follow the header.
  void array(const void* data, int64_t count, size_t width) {
    auto* bytes = static_cast<const std::byte*>(data);
    size_t size = size_t(count) * width;
    arrays_.push_back({bytes, size, words_.size()});
    for (uint64_t w : {uint64_t(0), uint64_t(count), uint64_t(width), checksum(bytes, size)}) word(w);
  }

  void finish() {
    uint64_t head[fixed_words] = {0, order_mark, version, words_.size(), 0};
    std::memcpy(head, magic, sizeof magic);
    size_t end = (fixed_words + words_.size()) * sizeof(uint64_t);
    for (const Pending& array : arrays_) {
      end = aligned(end);
      words_[array.at] = end;
      end += array.bytes;
    }
    head[4] = checksum(reinterpret_cast<const std::byte*>(words_.data()), words_.size() * sizeof(uint64_t));
    put(head, sizeof head);
    put(words_.data(), words_.size() * sizeof(uint64_t));
    for (const Pending& array : arrays_) {
      static constexpr std::array<char, alignment> zeros{};
      put(zeros.data(), aligned(written_) - written_);
      put(array.data, array.bytes);
    }
    file_.commit();
  }

 private:
  struct Pending {
    const std::byte* data;
    size_t bytes, at;
  };
  static size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  void put(const void* data, size_t bytes) {
    file_.write(data, bytes);
    written_ += bytes;
  }

  NewFile file_;
  std::vector<uint64_t> words_;
  std::vector<Pending> arrays_;
  size_t written_ = 0;
};

// ---- reading
// ---------------------------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(map_file(path)) {
    uint64_t head[fixed_words];
    if (file_.bytes.size() < sizeof head || std::memcmp(file_.bytes.data(), magic, sizeof magic) != 0)
      damaged("it does not start as such a file does");
    std::memcpy(head, file_.bytes.data(), sizeof head);
    if (head[1] == __builtin_bswap64(order_mark)) damaged("it was written on a machine of the other byte order");
    if (head[1] != order_mark) damaged("its byte order mark is wrong");
    if (head[2] != version) damaged(fmt::format("it has version {}, this program reads version {}", head[2], version));
    size_t left = file_.bytes.size() / sizeof(uint64_t) - fixed_words;
    if (head[3] > left) damaged("its header goes beyond its end");
    words_.resize(head[3]);
    std::byte* start = file_.bytes.data() + sizeof head;
    if (checksum(start, head[3] * sizeof(uint64_t), reinterpret_cast<std::byte*>(words_.data())) != head[4])
      damaged("the checksum of its header is wrong");
    read_tensor();
  }

  int64_t pieces() const { return pieces_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  ScalarType type() const { return type_; }

  Storage piece(int64_t number) {
    require(number >= 0 && number < pieces_, "the piece is one of the file's");
    at_ = first_piece_ + size_t(number) * piece_words();
    std::vector<LevelArrays> levels;
    for (size_t k = 0; k < dims_.size(); k++) {
      LevelArrays level;
      level.dim = dims_[size_t(format_.mode_order()[k])];
      level.range.lo = number_word(), level.range.hi = number_word(), level.positions = number_word();
      level.pos = indices(), level.crd = indices();
      levels.push_back(std::move(level));
    }
    auto pattern = std::make_shared<const Pattern>(format_, dims_, std::move(levels));
    if (auto sound = verify(*pattern); !sound) damaged(sound.refusal().message);
    ArrayWords values = array_words(size_of(type_));
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
    } catch (const UserError& error) { damaged(error.diagnostic().message); }
    pieces_ = number_word();
    first_piece_ = at_;
    uint64_t left = words_.size() - at_;
    if (left % piece_words() != 0 || left / piece_words() != uint64_t(pieces_))
      damaged(fmt::format("its header does not have room for {} pieces", pieces_));
  }

  size_t piece_words() const { return dims_.size() * 11 + 4; }

  ArrayWords array_words(size_t width) {
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

  IndexArray indices() {
    ArrayWords array = array_words(0);
    if (array.width != 4 && array.width != 8) damaged("an index array has elements of the wrong size");
    return IndexArray(load(array), IndexWidth(array.width));
  }

  std::string path_;
  MappedFile file_;
  std::vector<uint64_t> words_;
  size_t at_ = 0, first_piece_ = 0;
  ScalarType type_{};
  Format format_;
  std::vector<int64_t> dims_;
  int64_t pieces_ = 0;
};

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions&) {
  return runtime::together(
      transport,
      [&]() -> Contents {
        Reader in(path);
        if (in.pieces() == 0) throw UserError(fmt::format("{}: the file has no pieces", path));
        if (in.pieces() == 1 && transport.size() == 1) return in.piece(0);
        Range mine = block(in.pieces(), transport.size(), transport.rank());
        Coordinates all(in.dims(), in.type());
        for (int64_t k = mine.lo; k < mine.hi; k++) all.append(unpack(in.piece(k)));
        return all;
      },
      runtime::NameRank::No);
}

void write(const std::string& path, const Storage& storage) {
  const Storage* one = &storage;
  write_native(path, {&one, 1});
}

}  // namespace

void write_native(const std::string& path, std::span<const Storage* const> pieces) {
  require(!pieces.empty(), "a tensor has a piece");
  const Storage& first = *pieces[0];
  Writer out(path);
  out.word(uint64_t(first.type()));
  out.word(first.order());
  for (size_t k = 0; k < first.order(); k++) {
    out.word(uint64_t(first.format().levels()[k].letter()));
    out.word(uint64_t(first.format().mode_order()[k]));
  }
  for (int64_t dim : first.dims()) out.word(uint64_t(dim));
  out.word(pieces.size());
  for (const Storage* piece : pieces) {
    require(piece->format() == first.format() && piece->dims() == first.dims() && piece->type() == first.type(),
            "the pieces of a file are of one tensor");
    for (const LevelArrays& level : piece->pattern().levels()) {
      for (int64_t w : {level.range.lo, level.range.hi, level.positions}) out.word(uint64_t(w));
      for (const IndexArray* array : {&level.pos, &level.crd})
        out.array(array->data(), array->size(), size_t(array->width()));
    }
    out.array(piece->value_bytes(), piece->nnz(), size_of(piece->type()));
  }
  out.finish();
}

int64_t native_pieces(const std::string& path) { return Reader(path).pieces(); }

Storage read_native_piece(const std::string& path, int64_t piece) { return Reader(path).piece(piece); }

const FileFormat native{"native", ".spd", false, read, write};

}  // namespace spdistal
