// Files that all ranks read together, against the same file read by one.
#include <gtest/gtest.h>

#include <memory>

#include "io/files.hpp"
#include "io/formats.hpp"
#include "io/native.hpp"
#include "io/source.hpp"
#include "mpi/random_homes.hpp"
#include "runtime/transport/deal.hpp"
#include "runtime/transport/threads.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

/// A folder that the first rank makes and all know.
class SharedScratch {
 public:
  explicit SharedScratch(Transport& t) : transport_(t) {
    Writer name;
    if (t.rank() == 0) {
      mine_ = std::make_unique<Scratch>();
      name.put_text(mine_->path(""));
    }
    folder_ = Reader(share(t, name.take())[0]).take_text();
  }
  std::string path(const std::string& name) const { return folder_ + name; }
  /// Writes a file on the first rank; all see it afterwards.
  template <class F>
  void make(F&& write) const {
    if (transport_.rank() == 0) write();
    transport_.barrier();
  }
  /// What `f` is refused with, the name of the folder left out.
  template <class F>
  std::string refusal_of(F&& f) const {
    try {
      f();
    } catch (const UserError& error) {
      std::string text = error.what();
      for (size_t at; (at = text.find(folder_)) != text.npos;) text.erase(at, folder_.size());
      return text;
    }
    return "accepted";
  }

 private:
  Transport& transport_;
  std::unique_ptr<Scratch> mine_;
  std::string folder_;
};

std::string bytes_of(const Coordinates& entries) {
  std::string out;
  for (int64_t e = 0; e < entries.size(); e++) {
    for (size_t d = 0; d < entries.order(); d++) out += std::to_string(entries.column(d)[size_t(e)]) + " ";
    out.append(reinterpret_cast<const char*>(entries.value_bytes()) + size_t(e) * size_of(entries.type()),
               size_of(entries.type()));
    out += "\n";
  }
  return out;
}

/// The entries of rank 0, 1, … one after the other.
std::string all_of(Transport& t, const Coordinates& mine) {
  Writer out;
  out.put_text(bytes_of(mine));
  std::string all;
  for (const Bytes& part : share(t, out.take())) all += Reader(part).take_text();
  return all;
}

/// Lines that a reader skips.
std::string noise(Random& random, char comment) {
  switch (pick(random, 0, 6)) {
    case 0: return "\n";
    case 1: return std::string(1, comment) + " a remark\n";
    case 2: return "  \t\r\n";
    default: return "";
  }
}

std::string random_matrix(Random& random) {
  bool array = pick(random, 0, 3) == 0, complex = pick(random, 0, 3) == 0;
  int kind = int(pick(random, 0, complex ? 3 : 2));
  constexpr const char* kinds[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  int64_t rows = pick(random, 0, 6), columns = kind == 0 ? pick(random, 0, 6) : rows;
  std::string lines;
  int64_t count = 0;
  auto value = [&] {
    std::string out = " " + std::to_string(double(pick(random, -99, 99)) / 8);
    return complex ? out + " " + std::to_string(pick(random, -9, 9)) : out;
  };
  auto add = [&](const std::string& line) {
    lines += noise(random, '%') + line + (pick(random, 0, 9) ? "\n" : "  \r\n");
    count++;
  };
  if (array) {
    for (int64_t j = 0; j < columns; j++)
      for (int64_t i = kind == 0 ? 0 : kind == 2 ? j + 1 : j; i < rows; i++) add(value());
  } else if (rows > 0 && columns > 0) {
    for (int64_t n = pick(random, 0, 12); n > 0; n--) {
      int64_t i = pick(random, 1, rows), j = pick(random, 1, columns);
      if (kind != 0 && i < j) std::swap(i, j);
      if (kind == 2 && i == j) continue;
      add(std::to_string(i) + " " + std::to_string(j) + value());
    }
  }
  if (pick(random, 0, 4) == 0 && lines.ends_with("\n")) lines.pop_back();
  std::string sizes = std::to_string(rows) + " " + std::to_string(columns);
  if (!array) sizes += " " + std::to_string(count);
  return std::string("%%MatrixMarket matrix ") + (array ? "array" : "coordinate") + (complex ? " complex " : " real ") +
         kinds[kind] + "\n" + noise(random, '%') + sizes + "\n" + lines;
}

std::string random_list(Random& random) {
  size_t order = size_t(pick(random, 1, 4));
  std::string out = noise(random, '#');
  bool dims = pick(random, 0, 1) == 1;
  if (dims) {
    out += "# dims:";
    for (size_t d = 0; d < order; d++) out += " 9";
    out += "\n";
  }
  for (int64_t n = pick(random, dims ? 0 : 1, 15); n > 0; n--) {
    out += noise(random, '#');
    for (size_t d = 0; d < order; d++) out += std::to_string(pick(random, 1, 9)) + " ";
    out += std::to_string(double(pick(random, -50, 50)) / 4) + "\n";
  }
  return out;
}

void write_text(const std::string& path, const std::string& text) {
  TextSink sink(path);
  sink.write(text);
  sink.commit();
}

TEST(HomeFiles, AreReadByAllRanksAsByOne) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    for_each_case(t, "files", t.size() == 1 ? 500 : cases(150, 200), [&](Random& random) {
      bool matrix = pick(random, 0, 1) == 1;
      std::string path = scratch.path(matrix ? "a.mtx" : "a.tns") + (pick(random, 0, 3) == 0 ? ".gz" : "");
      std::string text = matrix ? random_matrix(random) : random_list(random);
      SCOPED_TRACE(path + "\n" + text);
      scratch.make([&] { write_text(path, text); });
      Coordinates part = read_part(t, path), whole = read_coordinates(path);
      ASSERT_EQ(part.dims(), whole.dims());
      ASSERT_EQ(part.type(), whole.type());
      // Mirrored entries follow those of the same rank: the set is the same, and so is the order of each element.
      std::vector<int> modes;
      for (size_t d = 0; d < whole.order(); d++) modes.push_back(int(d));
      Shares one = undivided(whole.dims());
      Home home = pack(t, std::move(part), Format(std::vector<LevelFormat>(modes.size(), Compressed)), one);
      ASSERT_EQ(bytes_of(gather(t, home)), bytes_of(unpack(pack(std::move(whole), home.format()))));
      t.barrier();
    });
  });
}

TEST(HomeFiles, GiveEachRankItsLinesInOrder) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    std::string text = "# dims: 5000 3\n";
    for (int64_t n = 1; n <= 5000; n++)
      text += std::to_string(n) + " " + std::to_string(n % 3 + 1) + " " + std::to_string(n) + ".5\n";
    for (const char* name : {"long.tns", "long.tns.gz"}) {
      std::string path = scratch.path(name);
      scratch.make([&] { write_text(path, text); });
      Coordinates part = read_part(t, path);
      EXPECT_EQ(all_of(t, part), bytes_of(read_coordinates(path)));
      if (name == std::string("long.tns")) {
        EXPECT_GE(part.size(), 5000 / t.size() - 200);
        EXPECT_LE(part.size(), 5000 / t.size() + 200);
      }
      t.barrier();
    }
  });
}

TEST(HomeFiles, DealOutWhatIsCompressedInChunks) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    std::string path = scratch.path("chunks.tns.gz");
    // More than the 8 MiB that are inflated at a time, several times; long remarks are quickly written.
    constexpr int64_t lines = 4000;
    std::string text = "# dims: 3000000 2\n", remark = "#" + std::string(9999, '-') + "\n";
    for (int64_t n = 1; n <= lines; n++) text += std::to_string(n) + " 1 " + std::to_string(n % 97) + "\n" + remark;
    scratch.make([&] { write_text(path, text); });
    Coordinates part = read_part(t, path);
    EXPECT_EQ(t.allreduce(part.size(), ReduceOp::Sum), lines);
    int64_t before = t.exclusive_scan(part.size());
    bool right = true;
    for (int64_t e = 0; e < part.size(); e++) right = right && part.column(0)[size_t(e)] == before + e;
    EXPECT_TRUE(right);
    if (t.size() > 1) { EXPECT_LT(part.size(), lines); }
    // A fault far inside is found by whoever parses it, and said with the same words.
    text += "3 4 x\n";
    scratch.make([&] { write_text(path, text); });
    EXPECT_EQ(scratch.refusal_of([&] { read_part(t, path); }),
              "error: chunks.tns.gz:8002:3: expected a coordinate of dimension 1 of 1 to 2, found '4'\n  3 4 x\n    "
              "^");
    t.barrier();
  });
}

TEST(HomeFiles, AreRefusedWithTheSameWordsOnEveryRank) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    for_each_case(t, "damaged", t.size() == 1 ? 500 : cases(150, 200), [&](Random& random) {
      bool matrix = pick(random, 0, 1) == 1, zipped = pick(random, 0, 3) == 0;
      std::string path = scratch.path(matrix ? "a.mtx" : "a.tns") + (zipped ? ".gz" : "");
      std::string text = matrix ? random_matrix(random) : random_list(random);
      for (int64_t n = pick(random, 1, 2); n > 0 && !text.empty(); n--) {
        size_t at = size_t(pick(random, 0, int64_t(text.size()) - 1));
        constexpr std::string_view letters = "0x-. \n%#9";
        char letter = letters[size_t(pick(random, 0, int64_t(letters.size()) - 1))];
        switch (pick(random, 0, 2)) {
          case 0: text[at] = letter; break;
          case 1: text.insert(at, 1, letter); break;
          default: text.erase(at, size_t(pick(random, 1, 9)));
        }
      }
      SCOPED_TRACE(path + "\n" + text);
      scratch.make([&] { write_text(path, text); });
      if (zipped && pick(random, 0, 1))  // and the compressed file itself
        scratch.make([&] {
          std::string bytes = slurp(path);
          bytes.resize(bytes.size() / 2);
          std::ofstream(path, std::ios::binary) << bytes;
        });
      std::string alone = scratch.refusal_of([&] { read_coordinates(path); });
      ASSERT_EQ(scratch.refusal_of([&] { read_part(t, path); }), alone);
      t.barrier();
    });
  });
}

TEST(HomeFiles, OfOtherKindsAreRefusedOnAllRanks) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    EXPECT_EQ(scratch.refusal_of([&] { read_part(t, scratch.path("none.mtx")); }),
              "error: cannot open 'none.mtx': No such file or directory");
    EXPECT_THROW(read_part(t, scratch.path("none.xyz")), UserError);
    std::string path = scratch.path("a.spd");
    scratch.make([&] { std::ofstream(path) << "something else"; });
    EXPECT_EQ(scratch.refusal_of([&] { read_part(t, path); }),
              "error: a.spd: no sound .spd file: it does not start as such a file does");
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

TEST(HomeFiles, OfAnyNumberOfPiecesAreReadByAnyNumberOfRanks) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    std::string path = scratch.path("a.spd");
    for_each_case(t, "native", cases(60, 60), [&](Random& random) {
      int64_t pieces = pick(random, 1, 6);
      Coordinates entries({12, 5}, ScalarType::Float64);
      for (int64_t n = pick(random, 0, 30); n > 0; n--)
        entries.add({pick(random, 0, 11), pick(random, 0, 4)}, double(pick(random, -9, 9)));
      Storage whole = pack(entries.clone(), CSR);
      scratch.make([&] {
        auto alone = loopback();
        Shares rows{ColourGrid({pieces}), {}};
        for (int64_t c = 0; c < pieces; c++) {
          rows.of.push_back(whole_share({12, 5}));
          Range mine = block(12, pieces, c);
          rows.of.back().coordinates[0] = Space::interval(mine.lo, mine.hi);
        }
        Home home = pack(*alone, entries.clone(), CSR, rows);
        std::vector<const Storage*> all;
        for (int64_t c = 0; c < pieces; c++) all.push_back(&home.piece(c));
        write_native(path, all);
      });
      Coordinates part = read_part(t, path);
      ASSERT_EQ(part.dims(), whole.dims());
      ASSERT_EQ(all_of(t, part), bytes_of(unpack(whole)));
      t.barrier();
    });
  });
}

TEST(HomeFiles, AreWrittenByAllRanksAsByOne) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    for_each_case(t, "written", t.size() == 1 ? 500 : cases(100, 200), [&](Random& random) {
      HomeCase made = random_home(random);
      SCOPED_TRACE(describe(made));
      std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
      Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares);
      Storage whole = pack(gather(t, home), made.format);
      bool matrix = made.dims.size() <= 2 && pick(random, 0, 1) == 1;
      std::string name = (matrix ? ".mtx" : ".tns") + std::string(pick(random, 0, 4) == 0 ? ".gz" : "");
      // Pieces of levels that fill store what lies between their own entries, zeros: of these there may be fewer.
      bool fills = whole_of(made, parts).fills;
      auto certain = [&](Coordinates entries) {
        if (fills) drop_zeros(entries);
        return bytes_of(entries);
      };
      write_home(t, scratch.path("all" + name), home);
      if (t.rank() == 0 && !fills) {
        write_storage(scratch.path("one" + name), whole);
        EXPECT_EQ(slurp(scratch.path("all" + name)), slurp(scratch.path("one" + name)));
      }
      write_home(t, scratch.path("all.spd"), home);
      // As often as it is stored: an element that were there twice would be there with twice its value.
      Coordinates alone = read_coordinates(scratch.path("all.spd"));
      if (!fills) { EXPECT_EQ(alone.size(), home.nnz()); }
      EXPECT_EQ(certain(unpack(pack(std::move(alone), made.format))), certain(unpack(whole)));
      Home again = pack(t, read_part(t, scratch.path("all.spd")), made.format, made.shares);
      EXPECT_EQ(certain(gather(t, again)), certain(unpack(whole)));
      if (binsparse.missing.empty()) {
        write_home(t, scratch.path("all.h5"), home);
        Home listed = pack(t, read_part(t, scratch.path("all.h5")), made.format, made.shares);
        EXPECT_EQ(certain(gather(t, listed)), certain(unpack(whole)));
        if (t.rank() == 0 && !fills) {
          write_storage(scratch.path("one.h5"), whole);
          EXPECT_EQ(slurp(scratch.path("all.h5")), slurp(scratch.path("one.h5")));
        }
      }
      t.barrier();
    });
  });
}

TEST(HomeFiles, OfSeveralPortionsComeInOrder) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    constexpr int64_t n = 700'000;
    Range rows = block(n, t.size(), t.rank());
    Coordinates mine({n}, ScalarType::Int64);
    for (int64_t i = rows.lo; i < rows.hi; i++) mine.add({i}, n - i);
    Home home = pack(t, std::move(mine), Format{Compressed}, blocked(Format{Compressed}, {n}, t.size()));
    write_home(t, scratch.path("long.tns"), home);
    if (t.rank() == 0) {
      Coordinates read = read_coordinates(scratch.path("long.tns"), {.type = ScalarType::Int64, .dims = std::nullopt});
      ASSERT_EQ(read.size(), n);
      bool right = true;
      for (int64_t i = 0; i < n; i++)
        right = right && read.column(0)[size_t(i)] == i && read.values<int64_t>()[size_t(i)] == n - i;
      EXPECT_TRUE(right);
    }
    t.barrier();
  });
}

TEST(HomeFiles, ThatCannotBeWrittenAreRefusedOnAllRanks) {
  on_ranks([](Transport& t) {
    SharedScratch scratch(t);
    Home home = pack(t, Coordinates({4, 4, 4}, ScalarType::Float64), CSF(3), blocked(CSF(3), {4, 4, 4}, t.size()));
    for (const char* name : {"no/x.tns", "no/x.spd"})
      EXPECT_EQ(scratch.refusal_of([&] { write_home(t, scratch.path(name), home); }),
                "error: cannot write '" + std::string(name) + "': No such file or directory");
    EXPECT_EQ(scratch.refusal_of([&] { write_home(t, scratch.path("x.mtx"), home); }),
              "error: x.mtx: a tensor of order 3 is no matrix\nhint: .tns and .spd files hold tensors of any order");
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

}  // namespace
}  // namespace spdistal::runtime
