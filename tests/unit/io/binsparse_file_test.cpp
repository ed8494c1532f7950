// Files as others write them, made here array by array as the specification of binsparse has them.
#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <random>

#include "io/files.hpp"
#include "io/hdf5.hpp"
#include "io/source.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal {
namespace {

struct Made {
  ScalarType type;
  std::vector<std::byte> bytes;
};
template <class T>
Made made(std::vector<T> values) {
  auto bytes = std::as_bytes(std::span<const T>(values));
  return {scalar_type_of<T>(), {bytes.begin(), bytes.end()}};
}
Made truth(std::vector<uint8_t> values) {
  auto bytes = std::as_bytes(std::span<const uint8_t>(values));
  return {ScalarType::Bool, {bytes.begin(), bytes.end()}};
}
using Arrays = std::map<std::string, Made>;
using Index = std::vector<int64_t>;

std::string write(const Scratch& scratch, const std::string& descriptor, const Arrays& arrays) {
  std::string path = scratch.path("x.bsp.h5");
  std::vector<NewHdf5Array> listed;
  for (const auto& [name, array] : arrays)
    listed.push_back({name, array.type, int64_t(array.bytes.size() / size_of(array.type))});
  std::vector<uint64_t> places = lay_out_hdf5(path, "binsparse", descriptor, listed);
  FilePart part(path);
  size_t n = 0;
  for (const auto& [name, array] : arrays) part.write(array.bytes.data(), array.bytes.size(), places[n++]);
  part.close();
  return path;
}

std::string descriptor(const std::string& format, const std::string& shape, int64_t stored, const std::string& values,
                       const std::string& more = "") {
  return R"({"binsparse": {"version": "0.1", "format": )" + format + R"(, "shape": )" + shape +
         R"(, "number_of_stored_values": )" + std::to_string(stored) + ", " + more + R"("data_types": {"values": ")" +
         values + R"(", "fill_value": ")" + values + R"("}}, "author": "somebody"})";
}

using Entries = std::map<std::vector<int64_t>, std::complex<double>>;
Entries entries_of(const Coordinates& read) {
  Entries out;
  for (int64_t e = 0; e < read.size(); e++) {
    std::vector<int64_t> at;
    for (size_t d = 0; d < read.order(); d++) at.push_back(read.column(d)[size_t(e)]);
    with_type(read.type(), [&](auto zero) {
      out[at] += convert_value<std::complex<double>>(read.values<decltype(zero)>()[size_t(e)]);
    });
  }
  return out;
}

const std::string csr = R"("CSR")";
Arrays csr_arrays() {  // 2 x 3: (0,1) 1, (1,0) 2, (1,2) 3
  return {{"pointers_to_1", made<int64_t>({0, 1, 3})},
          {"indices_1", made<int32_t>({1, 0, 2})},
          {"values", made<double>({1, 2, 3})}};
}
const Entries csr_entries{{{0, 1}, 1}, {{1, 0}, 2}, {{1, 2}, 3}};

TEST(BinsparseFile, IsReadAsItsDescriptorSays) {
  Scratch scratch;
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(csr, "[2, 3]", 3, "float64"), csr_arrays()))),
            csr_entries);
  Arrays columns = csr_arrays();
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(R"("CSC")", "[3, 2]", 3, "float64"), columns))),
            (Entries{{{1, 0}, 1}, {{0, 1}, 2}, {{2, 1}, 3}}));
  Arrays rows{{"indices_0", made<int64_t>({4})},
              {"pointers_to_1", made<int64_t>({0, 2})},
              {"indices_1", made<int64_t>({0, 2})},
              {"values", made<float>({1, 2})}};
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(R"("DCSR")", "[9, 3]", 2, "float32"), rows))),
            (Entries{{{4, 0}, 1}, {{4, 2}, 2}}));
  Arrays list{{"indices_0", made<int64_t>({4, 1})}, {"indices_1", made<int64_t>({0, 2})}, {"values", truth({1, 7})}};
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(R"("COO")", "[9, 3]", 2, "bint8"), list))),
            (Entries{{{4, 0}, 1}, {{1, 2}, 1}}));
  Arrays dense{{"values", made<int32_t>({1, 2, 3, 4, 5, 6})}};
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(R"("DMATC")", "[2, 3]", 6, "int32"), dense))),
            (Entries{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 3}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}}));
}

TEST(BinsparseFile, OfLevelsOfItsOwnHasTheDimensionsInTheOrderOfTheTranspose) {
  Scratch scratch;
  // Level dimensions 0, 1, 2 are dimensions 2, 0, 1: a dense one of size 2, below it pairs.
  std::string format =
      R"("custom", "custom": {"transpose": [2, 0, 1], "level": {"level_desc": "dense", "rank": 1, "level": )"
      R"({"level_desc": "sparse", "rank": 2, "level": {"level_desc": "element"}}}})";
  Arrays arrays{{"pointers_to_1", made<int64_t>({0, 1, 3})},
                {"indices_1", made<int64_t>({3, 0, 2})},
                {"indices_2", made<int64_t>({4, 1, 0})},
                {"values", made<double>({1, 2, 3})}};
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(format, "[4, 5, 2]", 3, "float64"), arrays))),
            (Entries{{{3, 4, 0}, 1}, {{0, 1, 1}, 2}, {{2, 0, 1}, 3}}));
}

TEST(BinsparseFile, MayHaveOneValueForAllComplexNumbersAndIndicesFromOne) {
  Scratch scratch;
  Arrays arrays = csr_arrays();
  arrays["values"] = made<double>({7});
  EXPECT_EQ(entries_of(read_coordinates(write(scratch, descriptor(csr, "[2, 3]", 3, "iso[float64]"), arrays))),
            (Entries{{{0, 1}, 7}, {{1, 0}, 7}, {{1, 2}, 7}}));
  arrays["values"] = made<float>({1, 2, 3, 4, 5, 6});
  Coordinates complex = read_coordinates(write(scratch, descriptor(csr, "[2, 3]", 3, "complex[float32]"), arrays));
  EXPECT_EQ(complex.type(), ScalarType::Complex64);
  EXPECT_EQ(entries_of(complex), (Entries{{{0, 1}, {1, 2}}, {{1, 0}, {3, 4}}, {{1, 2}, {5, 6}}}));
  arrays = csr_arrays();
  arrays["pointers_to_1"] = made<int64_t>({1, 2, 4}), arrays["indices_1"] = made<int64_t>({2, 1, 3});
  EXPECT_EQ(entries_of(read_coordinates(
                write(scratch, descriptor(csr, "[2, 3]", 3, "float64", R"("index_base": 1, )"), arrays))),
            csr_entries);
}

TEST(BinsparseFile, WithASymmetryStandsForBothTriangles) {
  Scratch scratch;
  Arrays arrays{{"indices_0", made<int64_t>({0, 1})}, {"indices_1", made<int64_t>({0, 0})}};
  auto read = [&](const std::string& structure, const std::string& type) {
    return entries_of(read_coordinates(
        write(scratch, descriptor(R"("COO")", "[2, 2]", 2, type, R"("structure": ")" + structure + R"(", )"), arrays)));
  };
  arrays["values"] = made<double>({5, 6});
  EXPECT_EQ(read("symmetric_lower", "float64"), (Entries{{{0, 0}, 5}, {{1, 0}, 6}, {{0, 1}, 6}}));
  EXPECT_EQ(read("skew_symmetric_lower", "float64"), (Entries{{{0, 0}, 5}, {{1, 0}, 6}, {{0, 1}, -6}}));
  EXPECT_EQ(refusal(scratch, [&] { read("symmetric_upper", "float64"); }),
            "error: x.bsp.h5: no sound binsparse file: an element at 1, 0 is not in the upper triangle");
  EXPECT_EQ(refusal(scratch, [&] { read("hermitian_lower", "float64"); }),
            "error: x.bsp.h5: no sound binsparse file: a hermitian matrix of real numbers");
  arrays["values"] = made<double>({5, 0, 6, 7});
  EXPECT_EQ(read("hermitian_lower", "complex[float64]"), (Entries{{{0, 0}, 5}, {{1, 0}, {6, 7}}, {{0, 1}, {6, -7}}}));
}

TEST(BinsparseFile, ThatIsDamagedIsRefusedWithTheArray) {
  Scratch scratch;
  auto said = [&](const std::string& name, std::optional<Made> array, int64_t stored = 3) {
    Arrays arrays = csr_arrays();
    if (array) arrays[name] = *array;
    else arrays.erase(name);
    std::string text = refusal(
        scratch, [&] { read_coordinates(write(scratch, descriptor(csr, "[2, 3]", stored, "float64"), arrays)); });
    std::string begin = "error: x.bsp.h5: no sound binsparse file: ";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(begin.size());
  };
  EXPECT_EQ(said("indices_1", std::nullopt), "indices_1: it has no array of this name");
  EXPECT_EQ(said("values", std::nullopt), "values: it has no array of this name");
  EXPECT_EQ(said("values", made<double>({1, 2})), "values: it has 2 elements, where 3 belong");
  EXPECT_EQ(said("values", made<double>({1, 2, 3}), 4), "its descriptor tells of 4 values, its levels have 3");
  EXPECT_EQ(said("indices_1", made<double>({1, 0, 2})), "indices_1: its elements are no whole numbers");
  EXPECT_EQ(said("pointers_to_1", made<int64_t>({0, 3})), "pointers_to_1: it has 2 elements, where 3 belong");
  EXPECT_EQ(said("pointers_to_1", made<int64_t>({0, 4, 3})), "pointers_to_1: element 1 is 4 after 0, of 3 positions");
  EXPECT_EQ(said("pointers_to_1", made<int64_t>({1, 1, 3})), "pointers_to_1: element 0 is 1 after 0, of 3 positions");
  EXPECT_EQ(said("pointers_to_1", made<int64_t>({0, 2, 2})), "pointers_to_1: it ends with 2, of 3 positions");
  EXPECT_NE(said("indices_1", made<int64_t>({1, 0, 3})).find("3"), std::string::npos);
  EXPECT_NE(said("indices_1", made<int64_t>({1, -1, 2})).find("-1"), std::string::npos);
}

TEST(BinsparseFile, WithoutADescriptorIsRefused) {
  Scratch scratch;
  lay_out_hdf5(scratch.path("x.h5"), "title", "no binsparse", {});
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(scratch.path("x.h5")); }),
            "error: x.h5: no binsparse file: it has no attribute 'binsparse'\n"
            "hint: an attribute 'binsparse' of such a file tells what its arrays hold");
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(scratch.file("y.h5", "something else")); }),
            "error: y.h5: no sound HDF5 file");
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(scratch.path("none.h5")); }),
            "error: cannot open 'none.h5': No such file or directory");
}

// Whatever stands in the descriptor and the arrays: it is read, or refused.
TEST(BinsparseFile, OfRandomContentsIsReadOrRefusedButNeverMore) {
  Scratch scratch;
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; n++) {
    SCOPED_TRACE(n);
    std::string text = descriptor(csr, "[2, 3]", 3, "float64", R"("index_base": 0, "structure": "symmetric_lower", )");
    for (size_t times = random() % 3; times > 0; times--)
      text[random() % text.size()] = R"(0123456789-.[]{}",: abcRSC)"[random() % 26];
    Arrays arrays = csr_arrays();
    for (size_t times = random() % 3; times > 0; times--) {
      auto chosen = std::next(arrays.begin(), int64_t(random() % 3));
      if (random() % 4 == 0) chosen->second.bytes.resize(random() % 4 * size_of(chosen->second.type));
      else if (!chosen->second.bytes.empty())
        chosen->second.bytes[random() % chosen->second.bytes.size()] = std::byte(random());
    }
    std::string path = write(scratch, text, arrays);
    try {
      EXPECT_TRUE(read_coordinates(path).check());
    } catch (const UserError&) {}
  }
}

TEST(BinsparseFile, TellsTheFillValue) {
  Scratch scratch;
  Arrays arrays = csr_arrays();
  arrays["fill_value"] = made<double>({INFINITY});
  std::string path = write(scratch, descriptor(csr, "[2, 3]", 3, "float64", R"("fill": true, )"), arrays);
  EXPECT_EQ(read_storage(path, CSR.filled(INFINITY)).format().str(), "ds=inf");
  EXPECT_EQ(refusal(scratch, [&] { read_storage(path, CSR); }),
            "error: x.bsp.h5: elements that are not stored count as inf in it, and as 0 in the tensor\n"
            "hint: give the tensor the format ds=inf");
}

}  // namespace
}  // namespace spdistal
