// What is written reads back the same; and what others write is understood.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/files.hpp"
#include "io/formats.hpp"
#include "io/native.hpp"
#include "io/source.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"
#include "unit/io/scratch.hpp"
#include "unit/tensor/random_tensors.hpp"

namespace spdistal {
namespace {

// The same elements, bit for bit.
void expect_same(const Storage& a, const Storage& b) {
  ASSERT_EQ(a.dims(), b.dims());
  ASSERT_EQ(a.type(), b.type());
  ASSERT_EQ(a.format().str(), b.format().str());
  ASSERT_EQ(a.nnz(), b.nnz());
  Coordinates left = unpack(a), right = unpack(b);
  for (size_t d = 0; d < a.order(); d++)
    for (size_t e = 0; e < size_t(a.nnz()); e++) ASSERT_EQ(left.column(d)[e], right.column(d)[e]);
  if (a.nnz() == 0) return;
  EXPECT_EQ(std::memcmp(a.value_bytes(), b.value_bytes(), size_t(a.nnz()) * size_of(a.type())), 0);
}

// Whether this build has files of such a name; that others are refused is tested elsewhere.
bool is_here(std::string_view file) {
  return binsparse.missing.empty() || !(file.ends_with(".h5") || file.ends_with(".hdf5"));
}

template <class T>
T awkward_value(Random& random) {
  if constexpr (is_complex_type<T>) {
    using Part = typename T::value_type;
    return T(awkward_value<Part>(random), awkward_value<Part>(random));
  } else if constexpr (std::is_floating_point_v<T>) {
    T value;
    do {  // any bits at all, but no NaN
      uint64_t bits = random();
      std::memcpy(&value, &bits, sizeof value);
    } while (std::isnan(value));
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() & 1;
  } else {
    return T(random());
  }
}

template <class T>
Coordinates awkward_entries(Random& random, const std::vector<int64_t>& dims, int count) {
  Coordinates entries(dims, scalar_type_of<T>());
  std::map<std::vector<int64_t>, bool> seen;
  for (int e = 0; e < count; e++) {
    std::vector<int64_t> at;
    for (int64_t dim : dims) at.push_back(below(random, dim));
    if (seen.emplace(at, true).second) entries.add(std::span<const int64_t>(at), awkward_value<T>(random));
  }
  return entries;
}

TEST(RoundTrip, IsExactForEveryFileFormatTypeAndStorageFormat) {
  Scratch scratch;
  Random random(1);
  struct {
    std::vector<int64_t> dims;
    std::vector<const char*> formats, files;
  } kinds[] = {{{7, 5},
                {"ds", "ds:1,0", "uq", "uq:1,0", "ss", "dd", "dd:1,0", "sd", "db", "us", "dr"},
                {"x.mtx", "x.mtx.gz", "x.tns", "x.npz", "x.h5", "x.spd"}},
               {{9}, {"d", "s"}, {"x.mtx", "x.tns.gz", "x.npz", "x.h5", "x.spd"}},
               {{}, {""}, {"x.mtx", "x.tns", "x.h5", "x.spd"}},
               {{3, int64_t(1) << 40, 4}, {"sss", "uqq:2,1,0", "dss"}, {"x.tns", "x.tns.gz", "x.h5", "x.spd"}},
               {{4, 1, 3, 2}, {"dsds", "dddd:3,1,0,2", "uqqd"}, {"x.tns", "x.hdf5", "x.spd"}}};
  for (const auto& kind : kinds)
    for (const char* format : kind.formats)
      for (const char* file : kind.files)
        for (ScalarType type : is_here(file) ? std::span(all_scalar_types) : std::span<const ScalarType>())
          with_type(type, [&](auto zero) {
            SCOPED_TRACE(std::string(file) + " " + format + " " + std::string(name_of(type)));
            for (int count : {20, 0}) {
              Format f = Format::parse(format);
              Storage written = pack(awkward_entries<decltype(zero)>(random, kind.dims, count), f);
              write_storage(scratch.path(file), written);
              expect_same(read_storage(scratch.path(file), f, {.type = type, .dims = kind.dims}), written);
            }
          });
  EXPECT_EQ(scratch.files(), is_here("x.h5") ? 8u : 6u);  // nothing but the files themselves
}

TEST(RoundTrip, KeepsNaNInfinityAndTheSignOfZero) {
  Scratch scratch;
  for (const char* file : {"x.mtx", "x.tns", "x.npz", "x.h5", "x.petsc", "x.spd"}) {
    if (!is_here(file)) continue;
    Coordinates entries({5}, ScalarType::Float64);
    entries.add({0}, std::nan(""));
    entries.add({1}, -INFINITY);
    entries.add({2}, -0.0);
    entries.add({3}, 5e-324);
    entries.add({4}, -std::nan(""));
    write_storage(scratch.path(file), pack(std::move(entries), Format{Compressed}));
    Storage back = read_storage(scratch.path(file), Format{Compressed});
    EXPECT_TRUE(std::isnan(at<double>(back, {0})));
    EXPECT_EQ(at<double>(back, {1}), -INFINITY);
    EXPECT_TRUE(std::signbit(back.values<double>()[2]));
    EXPECT_EQ(at<double>(back, {3}), 5e-324);
    EXPECT_TRUE(std::isnan(at<double>(back, {4})));
  }
}

TEST(RoundTrip, OfLargeTensorsIsExactToo) {
  Scratch scratch;
  Random random(2);
  Storage written = pack(awkward_entries<double>(random, {3000, 4000}, 200000), CSR);
  for (const char* file : {"x.mtx", "x.tns.gz", "x.npz", "x.h5", "x.petsc", "x.spd"}) {
    if (!is_here(file)) continue;
    write_storage(scratch.path(file), written);
    expect_same(read_storage(scratch.path(file), CSR), written);
  }
}

TEST(RoundTrip, KeepsTheFillValue) {
  Scratch scratch;
  for (const char* file : {"x.spd", "x.h5"}) {
    if (!is_here(file)) continue;
    for (ScalarType type : all_scalar_types) {
      Scalar fill = is_complex(type)           ? Scalar(std::complex<double>(1, -2))
                    : type == ScalarType::Bool ? Scalar(true)
                    : is_integral(type)        ? Scalar(INT32_MAX)
                                               : Scalar(-INFINITY);
      SCOPED_TRACE(std::string(file) + " " + std::string(name_of(type)));
      Coordinates entries({4, 5}, type);
      entries.add({1, 2}, 1);
      for (const Format& format : {CSR.filled(fill), Format::parse("uq").filled(fill)}) {
        Storage written = pack(entries.clone(), format);
        write_storage(scratch.path(file), written);
        expect_same(read_storage(scratch.path(file), format, {.type = type, .dims = std::nullopt}), written);
      }
      // Others that mean another value are told so; who reads entries alone means none.
      EXPECT_THROW(read_storage(scratch.path(file), CSR, {.type = type, .dims = std::nullopt}), UserError);
      EXPECT_EQ(read_coordinates(scratch.path(file)).size(), 1);
    }
    // What says nothing of it, or 0, is what the reader means.
    Coordinates entries({4, 5}, ScalarType::Float64);
    entries.add({1, 2}, 1.0);
    write_storage(scratch.path(file), pack(std::move(entries), CSR));
    EXPECT_EQ(read_storage(scratch.path(file), CSR.filled(INFINITY)).format().str(), "ds=inf");
    // A tensor that stores everything has nothing that is not stored.
    write_storage(scratch.path(file), pack(Coordinates({2, 2}, ScalarType::Float64), Format::parse("dd=inf")));
    EXPECT_EQ(read_storage(scratch.path(file), CSR).nnz(), 4);
  }
  EXPECT_EQ(
      refusal(
          scratch,
          [&] {
            write_storage(scratch.path("y.spd"), pack(Coordinates({2, 2}, ScalarType::Float64), CSR.filled(INFINITY)));
            read_storage(scratch.path("y.spd"), CSR.filled(-1.5));
          }),
      "error: y.spd: elements that are not stored count as inf in it, and as -1.5 in the tensor\n"
      "hint: give the tensor the format ds=inf");
}

TEST(NativeFile, KeepsPiecesApartAndReadsThemTogether) {
  Scratch scratch;
  Coordinates upper({4, 4}, ScalarType::Float64), lower({4, 4}, ScalarType::Float64);
  upper.add({0, 3}, 1.0);
  lower.add({3, 0}, 2.0);
  Storage a = pack(std::move(upper), CSR, {{0, 2}, {0, 4}}), b = pack(std::move(lower), CSR, {{2, 4}, {0, 4}});
  const Storage* pieces[] = {&a, &b};
  std::string path = scratch.path("two.spd");
  write_native(path, pieces);
  EXPECT_EQ(native_pieces(path), 2);
  expect_same(read_native_piece(path, 1), b);
  EXPECT_EQ(read_native_piece(path, 1).pattern().level(0).range, (Range{2, 4}));
  Storage whole = read_storage(path, CSR);
  EXPECT_EQ(whole.nnz(), 2);
  EXPECT_EQ(at<double>(whole, {3, 0}), 2);
}

TEST(NativeFile, RefusesEverySingleDamagedByteThatMatters) {
  Scratch scratch;
  Random random(3);
  Storage written = pack(awkward_entries<double>(random, {6, 6}, 12), CSR);
  std::string path = scratch.path("x.spd");
  write_storage(path, written);
  std::string good = slurp(path);
  for (size_t i = 0; i < good.size(); i++) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x10);
    scratch.file("x.spd", bad);
    try {
      expect_same(read_storage(path, CSR), written);  // padding between arrays does not matter
      EXPECT_EQ(good[i], 0);
    } catch (const UserError&) {}
    scratch.file("x.spd", good.substr(0, i));
    EXPECT_THROW(read_storage(path, CSR), UserError);
  }
}

TEST(NativeFile, SaysWhereAFileComesFromAnotherKindOfMachine) {
  Scratch scratch;
  std::string path = scratch.path("x.spd");
  write_storage(path, pack(Coordinates({2}, ScalarType::Float64), Format{Dense}));
  std::string text = slurp(path);
  std::reverse(text.begin() + 8, text.begin() + 16);
  scratch.file("x.spd", text);
  EXPECT_EQ(refusal(scratch, [&] { read_storage(path, Format{Dense}); }),
            "error: x.spd: no sound .spd file: it was written on a machine of the other byte order");
}

Oracle<double> elements(const Coordinates& entries) {
  Storage storage = pack(entries.clone(), COO(entries.order()));
  Oracle<double> out;
  for_each<double>(storage, [&](std::span<const int64_t> at, double v) { out[{at.begin(), at.end()}] = v; });
  return out;
}
using Map = Oracle<double>;

TEST(MatrixMarket, IsReadInAnyCaseWithCommentsBlankLinesTabsAndForeignLineEnds) {
  Scratch scratch;
  Map expected{{{0, 0}, 1.5}, {{1, 2}, -2}, {{2, 1}, 0.25}};
  for (const char* text :
       {"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 3 -2\n3 2 .25\n",
        "%%matrixmarket MATRIX Coordinate REAL General\n%comment\n\n% another\n 3\t3  3 \n\n1 1 1.5\n% in "
        "between\n\n2\t3 "
        "-2.\n  3 2 +25e-2",
        "%%MatrixMarket matrix coordinate real general\r\n%\r\n3 3 3\r\n1 1 1.5\r\n2 3 -2e0\r\n\r\n3 2 2.5E-01\r\n"})
    EXPECT_EQ(elements(read_coordinates(scratch.file("x.mtx", text))), expected) << text;
}

TEST(MatrixMarket, ExpandsSymmetricSkewAndHermitianMatrices) {
  Scratch scratch;
  auto head = [](const char* kind, const char* rest) { return std::string("%%MatrixMarket matrix ") + kind + rest; };
  EXPECT_EQ(elements(read_coordinates(
                scratch.file("x.mtx", head("coordinate real symmetric", "\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n")))),
            (Map{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 2}, 3}, {{2, 1}, 3}}));
  EXPECT_EQ(
      elements(read_coordinates(scratch.file("x.mtx", head("coordinate real symmetric", "\n3 3 2\n1 1 1\n1 3 2\n")))),
      (Map{{{0, 0}, 1}, {{0, 2}, 2}, {{2, 0}, 2}}));
  EXPECT_EQ(
      elements(read_coordinates(scratch.file("x.mtx", head("coordinate integer skew-symmetric", "\n2 2 1\n2 1 7\n")),
                                {.type = ScalarType::Float64, .dims = {}})),
      (Map{{{0, 1}, -7}, {{1, 0}, 7}}));
  Storage hermitian =
      read_storage(scratch.file("x.mtx", head("coordinate complex hermitian", "\n2 2 2\n1 1 5 0\n2 1 1 2\n")), CSR);
  using C = std::complex<double>;
  EXPECT_EQ(at<C>(hermitian, {0, 0}), C(5, 0));
  EXPECT_EQ(at<C>(hermitian, {1, 0}), C(1, 2));
  EXPECT_EQ(at<C>(hermitian, {0, 1}), C(1, -2));
  EXPECT_EQ(elements(read_coordinates(scratch.file("x.mtx", head("coordinate pattern symmetric", "\n2 2 1\n2 1\n")))),
            (Map{{{0, 1}, 1}, {{1, 0}, 1}}));
}

TEST(MatrixMarket, ReadsArraysByColumnsAndTheirTriangles) {
  Scratch scratch;
  auto array = [&](const char* text) {
    return elements(read_coordinates(scratch.file("x.mtx", std::string("%%MatrixMarket matrix array ") + text)));
  };
  EXPECT_EQ(array("real general\n2 3\n1\n2\n3\n4\n5\n6\n"),
            (Map{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 3}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}}));
  EXPECT_EQ(array("real symmetric\n2 2\n1\n2\n3\n"), (Map{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 2}, {{1, 1}, 3}}));
  EXPECT_EQ(array("real skew-symmetric\n3 3\n1\n2\n3\n"),
            (Map{{{1, 0}, 1}, {{2, 0}, 2}, {{2, 1}, 3}, {{0, 1}, -1}, {{0, 2}, -2}, {{1, 2}, -3}}));
  EXPECT_EQ(array("real general\n0 3\n"), Map{});
}

TEST(MatrixMarket, GivesValuesTheTypeAskedFor) {
  Scratch scratch;
  std::string integers = scratch.file("i.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 -3\n");
  EXPECT_EQ(read_coordinates(integers).values<int64_t>()[0], -3);
  EXPECT_EQ(read_coordinates(integers, {.type = ScalarType::Float32, .dims = {}}).values<float>()[0], -3.0f);
  std::string reals = scratch.file("r.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 -3.75\n");
  std::string whole = scratch.file("w.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 -3e2\n");
  EXPECT_EQ(read_coordinates(whole, {.type = ScalarType::Int32, .dims = {}}).values<int32_t>()[0], -300);
  EXPECT_EQ(read_coordinates(reals, {.type = ScalarType::Complex64, .dims = {}}).values<std::complex<float>>()[0],
            -3.75f);
  EXPECT_TRUE(read_coordinates(reals, {.type = ScalarType::Bool, .dims = {}}).values<bool>()[0]);
}

TEST(MatrixMarket, GivesAVectorForAMatrixOfOneColumnOrRow) {
  Scratch scratch;
  std::string column = scratch.file("c.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  std::string row = scratch.file("r.mtx", "%%MatrixMarket matrix coordinate real general\n1 3 1\n1 3 3\n");
  EXPECT_EQ(at<double>(read_storage(column, Format{Dense}), {1}), 2);
  EXPECT_EQ(at<double>(read_storage(row, Format{Dense}), {2}), 3);
  EXPECT_EQ(refusal(scratch, [&] { read_storage(column, CSF(3)); }),
            "error: c.mtx: the tensor has order 2, its format 'sss' order 3\nhint: a format has one level for each "
            "dimension");
}

TEST(Frostt, TakesSizesThatAreKnownWhereItHasNone) {
  Scratch scratch;
  std::string bare = scratch.file("bare.tns", "1 2 5\n3 1 6\n");
  auto dims = [&](const std::string& file, std::vector<std::optional<int64_t>> sizes) {
    return read_coordinates(file, {.type = {}, .dims = {}, .sizes = std::move(sizes)}).dims();
  };
  EXPECT_EQ(dims(bare, {9, 8}), (std::vector<int64_t>{9, 8}));
  EXPECT_EQ(dims(bare, {std::nullopt, 8}), (std::vector<int64_t>{3, 8}));
  EXPECT_EQ(dims(bare, {}), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(dims(bare, {9, 8, 7}), (std::vector<int64_t>{3, 2})) << "sizes of another order say nothing";
  EXPECT_EQ(dims(scratch.file("own.tns", "# dims: 4 5\n1 2 5\n"), {9, 8}), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(dims(scratch.file("empty.tns", "# nothing\n"), {9, 0}), (std::vector<int64_t>{9, 0}));
  EXPECT_EQ(refusal(scratch,
                    [&] {
                      dims(bare, {2, 8});
                    }),
            "error: bare.tns:2:1: expected a coordinate of dimension 0 of 1 to 2, found '3'\n  3 1 6\n  ^");
}

TEST(Frostt, TakesItsOrderFromTheFirstLineAndItsSizesFromTheEntries) {
  Scratch scratch;
  Coordinates entries = read_coordinates(scratch.file("x.tns", "# a comment\n\n1 2 3 4.5\n 2 1 7 -1\r\n"));
  EXPECT_EQ(entries.dims(), (std::vector<int64_t>{2, 2, 7}));
  EXPECT_EQ(elements(entries), (Map{{{0, 1, 2}, 4.5}, {{1, 0, 6}, -1}}));
  Coordinates sized = read_coordinates(scratch.path("x.tns"), {.type = {}, .dims = std::vector<int64_t>{5, 5, 9}});
  EXPECT_EQ(sized.dims(), (std::vector<int64_t>{5, 5, 9}));
  EXPECT_EQ(read_coordinates(scratch.file("y.tns", "# dims: 3 4\n")).dims(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(elements(read_coordinates(scratch.file("z.tns", "# dims: 3 4\n1 2\n3 3\n"))),
            (Map{{{0, 1}, 1}, {{2, 2}, 1}}));
}

TEST(Compressed, FilesMayBePutOneAfterTheOtherAndPadded) {
  Scratch scratch;
  auto zipped = [&](const char* text) {
    TextSink sink(scratch.path("part.gz"));
    sink.write(text);
    sink.commit();
    return slurp(scratch.path("part.gz"));
  };
  std::string all = zipped("1 2 4.5\n2 ") + zipped("1 -1\n") + std::string(100, '\0');
  EXPECT_EQ(elements(read_coordinates(scratch.file("x.tns.gz", all))), (Map{{{0, 1}, 4.5}, {{1, 0}, -1}}));
}

TEST(Compressed, TextIsToldByItsBytesNotByItsName) {
  Scratch scratch;
  EXPECT_EQ(elements(read_coordinates(scratch.file("x.tns.gz", "1 2 4.5\n"))), (Map{{{0, 1}, 4.5}}));
}

TEST(Writing, LeavesNothingBehindWhereItFails) {
  Scratch scratch;
  Storage cube = pack(Coordinates({2, 2, 2}, ScalarType::Float64), CSF(3));
  EXPECT_EQ(refusal(scratch, [&] { write_storage(scratch.path("x.mtx"), cube); }),
            "error: x.mtx: a tensor of order 3 is no matrix\nhint: .tns and .spd files hold tensors of any order");
  EXPECT_EQ(refusal(scratch, [&] { write_storage(scratch.path("no/x.tns"), cube); }),
            "error: cannot write 'no/x.tns': No such file or directory");
  EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
}  // namespace spdistal
