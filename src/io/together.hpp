// Files that all ranks read or write, each its part.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "io/source.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/bytes.hpp"
#include "runtime/transport/transport.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Collective. This rank's part of the entries of a file; `open()` makes the reader of it, which must be of the same file on all ranks.
template <class Open>
Coordinates read_together(runtime::Transport& transport, const std::string& path, Open&& open) {
  uint64_t hash = 0;
  Coordinates out = runtime::together(
      transport,
      [&] {
        auto reader = open();
        hash = reader.hash();
        return reader.part(transport.rank(), transport.size());
      },
      runtime::NameRank::No);
  runtime::agree_same(transport, hash, "the file '" + path + "'");
  return out;
}

/// Collective. A file of so many bytes, into which every rank puts its part; it appears under its name when all are done. `put` calls
/// nothing collective.
void write_together(runtime::Transport& transport, const std::string& path, size_t bytes,
                    const std::function<void(FilePart& file)>& put);

/// Collective. The same of a file that the first rank lays out; what that tells, `put` is told on all ranks.
void write_together(runtime::Transport& transport, const std::string& path,
                    const std::function<runtime::Bytes(NewFile& file)>& lay_out,
                    const std::function<void(FilePart& file, runtime::Reader told)>& put);

/// What a rank writes of a tensor that lies in a file in lines, as a format with a dense first level stores it.
struct LinesPart {
  Coordinates entries;          // those of its lines, in storage order
  Range lines;                  // blocks of lines, those of rank 0 first
  int64_t before = 0, all = 0;  // entries of lower ranks, and of all ranks

  /// How many entries each of its lines has.
  std::vector<int64_t> counts(size_t dimension) const;
};
/// Collective.
LinesPart lines_part(runtime::Transport& transport, const Home& home, const Format& format);

}  // namespace spdistal
