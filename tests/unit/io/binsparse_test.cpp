// What descriptors of binsparse say.
#include "io/binsparse.hpp"

#include <gtest/gtest.h>

#include "io/formats.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal {
namespace {

std::string of_format(const std::string& format, const std::string& shape, const std::string& more = "") {
  return R"({"binsparse": {"version": "0.1", "shape": )" + shape +
         R"(, "number_of_stored_values": 0, "data_types": {},)" + more + R"("format": )" + format + "}}";
}
std::string said(const std::string& text) {
  Result<BinsparseDescriptor> descriptor = BinsparseDescriptor::parse(text);
  return descriptor ? "accepted" : descriptor.refusal().message;
}

// The formats that the specification has names for, and the levels that it says are the same.
TEST(BinsparseDescriptor, KnowsTheNamesOfFormats) {
  struct {
    const char *name, *format, *shape;
  } known[] = {{"DVEC", "d", "[3]"},        {"CVEC", "s", "[3]"},          {"DMAT", "dd", "[3, 4]"},
               {"DMATR", "dd", "[3, 4]"},   {"DMATC", "dd:1,0", "[3, 4]"}, {"CSR", "ds", "[3, 4]"},
               {"CSC", "ds:1,0", "[3, 4]"}, {"DCSR", "ss", "[3, 4]"},      {"DCSC", "ss:1,0", "[3, 4]"},
               {"COO", "uq", "[3, 4]"},     {"COOR", "uq", "[3, 4]"},      {"COOC", "uq:1,0", "[3, 4]"}};
  for (const auto& each : known) {
    SCOPED_TRACE(each.name);
    Result<BinsparseDescriptor> of =
        BinsparseDescriptor::parse(of_format("\"" + std::string(each.name) + "\"", each.shape));
    ASSERT_TRUE(of) << of.refusal().message;
    Format format = Format::parse(each.format);
    EXPECT_EQ(of->levels, binsparse_levels(format));
    EXPECT_EQ(of->order, format.mode_order());
  }
}

TEST(BinsparseDescriptor, SaysOtherFormatsByTheirLevels) {
  BinsparseDescriptor of;
  Format format = Format::parse("dsuq:3,1,0,2");
  of.dims = {4, 5, 6, 7}, of.levels = binsparse_levels(format), of.order = format.mode_order(), of.stored = 9;
  of.types = {{"pointers_to_1", "int32"}, {"values", "complex[float32]"}};
  of.filled = true;
  EXPECT_EQ(of.str(),
            R"({"binsparse": {"version": "0.1.0", "format": "custom", "custom": {"transpose": [3, 1, 0, 2], "level": )"
            R"({"level_desc": "dense", "rank": 1, "level": {"level_desc": "sparse", "rank": 1, "level": )"
            R"({"level_desc": "sparse", "rank": 2, "level": {"level_desc": "element"}}}}}, "shape": [4, 5, 6, 7], )"
            R"("number_of_stored_values": 9, "fill": true, )"
            R"("data_types": {"pointers_to_1": "int32", "values": "complex[float32]"}}})");
  Result<BinsparseDescriptor> back = BinsparseDescriptor::parse(of.str());
  ASSERT_TRUE(back) << back.refusal().message;
  EXPECT_EQ(back->levels, of.levels);
  EXPECT_EQ(back->order, of.order);
  EXPECT_EQ(back->dims, of.dims);
  EXPECT_EQ(back->types, of.types);
  EXPECT_TRUE(back->filled);
}

TEST(BinsparseDescriptor, HasCompressedLevelsInThePlaceOfThoseThatItDoesNotKnow) {
  EXPECT_EQ(binsparse_format(Format::parse("dbr")).str(), "dss");
  EXPECT_EQ(binsparse_format(Format::parse("hs:1,0")).str(), "ss:1,0");
  EXPECT_EQ(binsparse_format(Format::parse("uqq")).str(), "uqq");
  EXPECT_EQ(binsparse_format(Format::parse("duq")).str(), "duq");
  EXPECT_EQ(binsparse_format(Format::parse("ds=inf")).str(), "ds");
}

TEST(BinsparseDescriptor, IsRefusedWithWhatIsWrong) {
  std::string element = R"({"level_desc": "element"})";
  auto custom = [](const std::string& level, const std::string& more = "") {
    return R"("custom", "custom": {)" + more + R"("level": )" + level + "}";
  };
  EXPECT_EQ(said("{"), "it is no JSON: at character 2 something else is expected");
  EXPECT_EQ(said("{}"), "it has no 'version'");
  EXPECT_EQ(said(R"({"version": "1.0"})"), "its version is 1.0, where 0.1 is read");
  EXPECT_EQ(said(R"({"version": "0.1", "shape": 3})"), "'shape' is no list");
  EXPECT_EQ(said(of_format("\"CSR\"", "[3, -4]")), "'shape' is no size");
  EXPECT_EQ(said(of_format("\"CSR\"", "[3]")), "the format CSR has 2 dimensions, its shape 1");
  EXPECT_EQ(said(of_format("\"ELL\"", "[3, 4]")), "there is no format 'ELL'");
  EXPECT_EQ(said(of_format("7", "[3, 4]")), "'format' is no text");
  EXPECT_EQ(said(of_format(custom(element), "[3]")), "its levels do not have 1 dimensions together");
  EXPECT_EQ(said(of_format(custom(element), "[]")), "accepted");
  EXPECT_EQ(said(of_format(custom(R"({"level_desc": "sparse", "rank": 9, "level": )" + element + "}"), "[3, 4]")),
            "its levels do not have 2 dimensions together");
  EXPECT_EQ(said(of_format(custom(R"({"level_desc": "hash", "rank": 1})"), "[3]")), "there is no level 'hash'");
  EXPECT_EQ(said(of_format(custom(R"({"level_desc": "dense", "rank": 1})"), "[3]")), "it has no 'level'");
  EXPECT_EQ(said(of_format(
                custom(R"({"level_desc": "dense", "rank": 2, "level": )" + element + "}", R"("transpose": [1, 1],)"),
                "[3, 4]")),
            "'transpose' does not put 2 dimensions in order");
  EXPECT_EQ(said(of_format("\"CSR\"", "[3, 4]", R"("structure": "symmetric_lower",)")),
            "its structure is 'symmetric_lower', but it is no square matrix");
  EXPECT_EQ(said(of_format("\"CSR\"", "[3, 3]", R"("structure": "lower",)")), "there is no structure 'lower'");
  EXPECT_EQ(said(of_format("\"CSR\"", "[3, 3]", R"("index_base": 2,)")), "its 'index_base' is 2, not 0 or 1");
}

TEST(BinsparseDescriptor, TellsHowElementsAreTaken) {
  BinsparseDescriptor of;
  of.types = {{"a", "iso[complex[float32]]"}, {"b", "bint8"}, {"c", "complex[int8]"}, {"d", "string"}};
  EXPECT_TRUE(of.type_of("a")->same && of.type_of("a")->complex);
  EXPECT_EQ(of.type_of("a")->number, "float32");
  EXPECT_TRUE(of.type_of("b")->truth());
  EXPECT_EQ(of.type_of("c").refusal().message, "the descriptor gives it the type 'complex[int8]'");
  EXPECT_EQ(of.type_of("d").refusal().message, "the descriptor gives it the type 'string'");
  EXPECT_EQ(of.type_of("e").refusal().message, "the descriptor tells no type of it");
}

TEST(BinsparseFiles, AreRefusedWithTheRemedyWhereThereIsNoHdf5) {
  if (binsparse.missing.empty()) GTEST_SKIP() << "this build has HDF5";
  for (const char* name : {"a.h5", "a.bsp.h5", "a.hdf5"})
    EXPECT_EQ(refusal(Scratch(), [&] { check_can_write(name); }),
              "error: '" + std::string(name) +
                  "': this build of spdistal has no binsparse files\nhint: they need HDF5: install libhdf5-dev, and "
                  "configure and build spdistal again; .npz, .tns and .spd files are always there");
}

}  // namespace
}  // namespace spdistal
