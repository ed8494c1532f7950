// An archive is: for each member a local header and its bytes; then the directory, a record for each member; then records
// that tell where the directory is. Numbers are little-endian. Sizes that 32 bits do not hold stand in an extra field of the
// header (number 1), which is written always.
#include "io/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/blocks.hpp"
#include "base/hash.hpp"
#include "base/require.hpp"
#include "io/together.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal {
namespace {

constexpr uint32_t local_mark = 0x04034b50, directory_mark = 0x02014b50, end_mark = 0x06054b50,
                   wide_end_mark = 0x06064b50, locator_mark = 0x07064b50;
constexpr size_t local_bytes = 30, directory_bytes = 46, end_bytes = 22, wide_end_bytes = 56, locator_bytes = 20;
constexpr uint32_t elsewhere = 0xffffffff;  // the number stands in the extra field
constexpr size_t longest_comment = 0xffff;  // behind the end record
constexpr uint64_t most_inflated = 1032;    // bytes from one: the method cannot do better
constexpr size_t chunk_bytes = size_t(1) << 20;

// A number of some bytes, the lowest first.
template <class T>
T number(std::span<const std::byte> from, size_t at) {
  T out = 0;
  for (size_t k = sizeof(T); k-- > 0;) out = T(T(out << 8) | T(from[at + k]));
  return out;
}
class ZipRecord {
 public:
  template <class T>
  ZipRecord& put(T value) {
    for (size_t k = 0; k < sizeof(T); k++) bytes_.push_back(std::byte(uint64_t(value) >> (8 * k)));
    return *this;
  }
  ZipRecord& text(std::string_view text) {
    for (char c : text) bytes_.push_back(std::byte(c));
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

uint32_t crc_of(std::span<const std::byte> bytes, uint32_t before = 0) {
  return uint32_t(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Collective. The checksum of what all ranks have, one after the other.
uint32_t crc_of_all(runtime::Transport& transport, std::span<const std::byte> mine) {
  struct Part {
    uint64_t crc, bytes;
  };
  uint32_t crc = 0;
  for (const Part& part : transport.allgather(Part{crc_of(mine), mine.size()}))
    crc = uint32_t(crc32_combine(crc, uint32_t(part.crc), z_off_t(part.bytes)));
  return crc;
}

}  // namespace

ZipArchive::ZipArchive(std::string path) : path_(std::move(path)), file_(map_file(path_)) { read_directory(); }

void ZipArchive::damaged(const std::string& what) const {
  throw UserError(fmt::format("{}: no sound .npz file: {}", path_, what));
}

std::span<const std::byte> ZipArchive::at(uint64_t from, uint64_t bytes, std::string_view what) const {
  if (from > file_.bytes.size() || bytes > file_.bytes.size() - from)
    damaged(fmt::format("{} goes beyond its end", what));
  return std::span<const std::byte>(file_.bytes).subspan(from, bytes);
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  auto found = std::find_if(members_.begin(), members_.end(), [&](const ZipMember& m) { return m.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

void ZipArchive::read_directory() {
  std::span<const std::byte> all(file_.bytes);
  if (all.size() < end_bytes) damaged("it is shorter than any archive");
  size_t end = all.size() - end_bytes, least = end - std::min(end, longest_comment);
  while (number<uint32_t>(all, end) != end_mark)
    if (end-- == least) damaged("it does not end as an archive does");
  uint64_t count = number<uint16_t>(all, end + 10), from = number<uint32_t>(all, end + 16);
  if (end >= locator_bytes && number<uint32_t>(all, end - locator_bytes) == locator_mark) {
    auto wide = at(number<uint64_t>(all, end - locator_bytes + 8), wide_end_bytes, "the record of its directory");
    if (number<uint32_t>(wide, 0) != wide_end_mark) damaged("the record of its directory is not where it should be");
    count = number<uint64_t>(wide, 32), from = number<uint64_t>(wide, 48);
  }
  if (count > all.size() / directory_bytes) damaged("its directory tells of more members than there is room for");
  for (uint64_t k = 0; k < count; k++) {
    auto head = at(from, directory_bytes, "its directory");
    if (number<uint32_t>(head, 0) != directory_mark) damaged("its directory is not where it should be");
    uint64_t name_size = number<uint16_t>(head, 28), extra_size = number<uint16_t>(head, 30);
    auto tail = at(from + directory_bytes, name_size + extra_size, "its directory");
    ZipMember member;
    for (std::byte c : tail.first(name_size)) member.name += char(c);
    if ((number<uint16_t>(head, 8) & 1) != 0) damaged(fmt::format("{} is encrypted", member.name));
    uint16_t method = number<uint16_t>(head, 10);
    if (method != 0 && method != 8)
      damaged(fmt::format("{} is compressed by method {}, which is neither 0 nor 8", member.name, method));
    member.method = method == 0 ? ZipMember::Method::Stored : ZipMember::Method::Deflated;
    member.crc = number<uint32_t>(head, 16);
    member.packed = number<uint32_t>(head, 20), member.bytes = number<uint32_t>(head, 24);
    uint64_t local = number<uint32_t>(head, 42);
    // Numbers that 32 bits do not hold follow each other in the extra field with number 1.
    for (auto extra = tail.subspan(name_size); extra.size() >= 4;) {
      uint16_t id = number<uint16_t>(extra, 0);
      size_t size = std::min<size_t>(number<uint16_t>(extra, 2), extra.size() - 4), at = 0;
      auto field = extra.subspan(4, size);
      for (uint64_t* value : {&member.bytes, &member.packed, &local})
        if (id == 1 && *value == elsewhere && at + 8 <= size) *value = number<uint64_t>(field, at), at += 8;
      extra = extra.subspan(4 + size);
    }
    auto before = at(local, local_bytes, member.name);
    if (number<uint32_t>(before, 0) != local_mark) damaged(fmt::format("{} is not where it should be", member.name));
    member.from = local + local_bytes + number<uint16_t>(before, 26) + number<uint16_t>(before, 28);
    at(member.from, member.packed, member.name);
    bool possible = member.method == ZipMember::Method::Stored ? member.bytes == member.packed
                                                               : member.bytes / most_inflated <= member.packed;
    if (!possible) damaged(fmt::format("{} bytes cannot be the {} of {}", member.packed, member.bytes, member.name));
    members_.push_back(std::move(member));
    from += directory_bytes + name_size + extra_size + number<uint16_t>(head, 32);
  }
}

ZipArchive::Part ZipArchive::part(const ZipMember& member, uint64_t lo, uint64_t hi) const {
  if (lo > hi || hi > member.bytes) damaged(fmt::format("{} ends too early", member.name));
  if (member.method == ZipMember::Method::Deflated) return inflated(member, lo, hi);
  Part out;
  out.view_ = at(member.from + lo, hi - lo, member.name);
  return out;
}

ZipArchive::Part ZipArchive::inflated(const ZipMember& member, uint64_t lo, uint64_t hi) const {
  struct Inflater {
    z_stream stream{};
    Inflater() { require(inflateInit2(&stream, -15) == Z_OK, "zlib starts"); }
    ~Inflater() { inflateEnd(&stream); }
  } inflater;
  z_stream& stream = inflater.stream;
  std::span<const std::byte> packed = at(member.from, member.packed, member.name);
  Part out;
  out.copy_.resize(int64_t(hi - lo));
  Array<std::byte> chunk{int64_t(chunk_bytes)};
  uint64_t done = 0;
  uint32_t crc = 0;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      auto next = packed.first(std::min<size_t>(packed.size(), size_t(1) << 30));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(next.data()));
      stream.avail_in = uInt(next.size());
      packed = packed.subspan(next.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = uInt(chunk_bytes);
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      damaged(fmt::format("the compressed bytes of {} are damaged", member.name));
    std::span<const std::byte> got(chunk.data(), chunk_bytes - stream.avail_out);
    crc = crc_of(got, crc);
    uint64_t begin = std::clamp(lo, done, done + got.size()), end = std::clamp(hi, done, done + got.size());
    memory::copy_bytes(out.copy_.data() + (begin - std::min(begin, lo)), got.data() + (begin - done), end - begin);
    done += got.size();
    if (done > member.bytes) damaged(fmt::format("{} is longer than its {} bytes", member.name, member.bytes));
  }
  if (done != member.bytes) damaged(fmt::format("{} ends too early", member.name));
  if (crc != member.crc) damaged(fmt::format("the checksum of {} is wrong", member.name));
  out.view_ = {out.copy_.data(), size_t(hi - lo)};
  return out;
}

void ZipArchive::check(runtime::Transport& transport) const {
  Hasher all;
  for (const ZipMember& member : members_)
    all.word(member.crc), all.word(member.bytes), all.word(member.from), all.word(uint64_t(member.method));
  runtime::agree_same(transport, all.value(), fmt::format("the file '{}'", path_));
  for (const ZipMember& member : members_) {
    if (member.method != ZipMember::Method::Stored) continue;
    Range mine = block(int64_t(member.bytes), transport.size(), transport.rank());
    if (crc_of_all(transport, at(member.from + uint64_t(mine.lo), uint64_t(mine.size()), member.name)) != member.crc)
      damaged(fmt::format("the checksum of {} is wrong", member.name));
  }
}

// ---- writing -----------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t local_extra = 20, directory_extra = 28;
constexpr uint16_t version = 45, stored = 0, new_year_1980 = 0x21;

struct Placed {
  uint32_t crc;
  uint64_t bytes, local, mine;  // mine: where this rank's bytes go
};

ZipRecord local_header(const std::string& name, const Placed& member) {
  ZipRecord out;
  out.put(local_mark).put(version).put(uint16_t(0)).put(stored).put(uint16_t(0)).put(new_year_1980).put(member.crc);
  out.put(elsewhere).put(elsewhere).put(uint16_t(name.size())).put(uint16_t(local_extra)).text(name);
  return out.put(uint16_t(1)).put(uint16_t(local_extra - 4)).put(member.bytes).put(member.bytes);
}

void add_to_directory(ZipRecord& out, const std::string& name, const Placed& member) {
  out.put(directory_mark).put(version).put(version).put(uint16_t(0)).put(stored).put(uint16_t(0)).put(new_year_1980);
  out.put(member.crc).put(elsewhere).put(elsewhere).put(uint16_t(name.size())).put(uint16_t(directory_extra));
  out.put(uint16_t(0)).put(uint16_t(0)).put(uint16_t(0)).put(uint32_t(0)).put(elsewhere).text(name);
  out.put(uint16_t(1)).put(uint16_t(directory_extra - 4)).put(member.bytes).put(member.bytes).put(member.local);
}

ZipRecord directory_of(const std::vector<NewZipMember>& members, const std::vector<Placed>& placed, uint64_t from) {
  ZipRecord out;
  for (size_t k = 0; k < members.size(); k++) add_to_directory(out, members[k].name, placed[k]);
  uint64_t bytes = out.bytes().size(), count = members.size();
  out.put(wide_end_mark).put(uint64_t(wide_end_bytes - 12)).put(version).put(version).put(uint32_t(0));
  out.put(uint32_t(0)).put(count).put(count).put(bytes).put(from);
  out.put(locator_mark).put(uint32_t(0)).put(from + bytes).put(uint32_t(1));
  out.put(end_mark).put(uint16_t(0)).put(uint16_t(0)).put(uint16_t(count)).put(uint16_t(count));
  return out.put(elsewhere).put(elsewhere).put(uint16_t(0));
}

}  // namespace

void write_zip(runtime::Transport& transport, const std::string& path, const std::vector<NewZipMember>& members) {
  std::vector<Placed> placed;
  uint64_t end = 0;
  for (const NewZipMember& member : members) {
    const int64_t bytes = int64_t(member.mine.size());
    const uint64_t before = uint64_t(transport.exclusive_scan(bytes));
    const uint64_t all = uint64_t(transport.allreduce(bytes, runtime::ReduceOp::Sum));
    uint64_t from = end + local_bytes + member.name.size() + local_extra;
    placed.push_back({crc_of_all(transport, member.mine), all, end, from + before});
    end = from + all;
  }
  ZipRecord directory = directory_of(members, placed, end);
  write_together(transport, path, end + directory.bytes().size(), [&](FilePart& file) {
    for (size_t k = 0; k < members.size(); k++) {
      file.write(members[k].mine.data(), members[k].mine.size(), placed[k].mine);
      if (transport.rank() != 0) continue;
      ZipRecord head = local_header(members[k].name, placed[k]);
      file.write(head.bytes().data(), head.bytes().size(), placed[k].local);
    }
    if (transport.rank() == 0) file.write(directory.bytes().data(), directory.bytes().size(), end);
  });
}

}  // namespace spdistal
