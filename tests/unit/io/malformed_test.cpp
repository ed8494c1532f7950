// Files that are wrong, each with the whole diagnostic.
#include <gtest/gtest.h>

#include "io/files.hpp"
#include "io/source.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal {
namespace {

struct Case {
  std::string name, text, said;
  ReadOptions options{};
};

const Case cases[] = {
    {"a.mtx", "",
     "error: a.mtx: the file is empty\nhint: a file starts with '%%MatrixMarket matrix coordinate real "
     "general'"},
    {"a.mtx", "hello world\n",
     "error: a.mtx:1:1: expected '%%MatrixMarket', found 'hello'\n  hello world\n  ^^^^^\nhint: a file starts with "
     "'%%MatrixMarket matrix coordinate real general'"},
    {"a.mtx", "\n",
     "error: a.mtx:1:1: expected '%%MatrixMarket', found the end of the line\n  \n  ^\nhint: a file starts with "
     "'%%MatrixMarket matrix coordinate real general'"},
    {"a.mtx", "%%MatrixMarket matrix\n1 1 0\n",
     "error: a.mtx:1:22: expected 'coordinate' or 'array', found the end of the line\n  %%MatrixMarket matrix\n       "
     "                ^\nhint: it is one of coordinate or array"},
    {"a.mtx", "%%MatrixMarket vector coordinate real general\n",
     "error: a.mtx:1:16: expected 'matrix', found 'vector'\n  %%MatrixMarket vector coordinate real general\n          "
     "  "
     "     ^^^^^^\nhint: it is one of matrix"},
    {"a.mtx", "%%MatrixMarket matrix cordinate real general\n",
     "error: a.mtx:1:23: expected 'coordinate' or 'array', found 'cordinate'\n  %%MatrixMarket matrix cordinate real "
     "general\n                        ^^^^^^^^^\nhint: did you mean 'coordinate'?"},
    {"a.mtx", "%%MatrixMarket matrix coordinate quaternion general\n",
     "error: a.mtx:1:34: expected the kind of values, found 'quaternion'\n  %%MatrixMarket matrix coordinate "
     "quaternion "
     "general\n                                   ^^^^^^^^^^\nhint: it is one of pattern, integer, real and complex"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real symetric\n",
     "error: a.mtx:1:39: expected the symmetry, found 'symetric'\n  %%MatrixMarket matrix coordinate real symetric\n   "
     "  "
     "                                   ^^^^^^^^\nhint: did you mean 'symmetric'?"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general now\n",
     "error: a.mtx:1:47: expected the end of the line, found 'now'\n  %%MatrixMarket matrix coordinate real general "
     "now\n                                                ^^^"},
    {"a.mtx", "%%MatrixMarket matrix array pattern general\n",
     "error: a.mtx:1:29: an array has values: it cannot be 'pattern'\n  %%MatrixMarket matrix array pattern general\n  "
     "  "
     "                          ^^^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n",
     "error: a.mtx:1:39: only complex matrices are 'hermitian'\n  %%MatrixMarket matrix coordinate real hermitian\n    "
     " "
     "                                   ^^^^^^^^^\nhint: a real one is 'symmetric'"},
    {"a.mtx", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
     "error: a.mtx:1:42: a pattern has no signs: it cannot be 'skew-symmetric'\n  %%MatrixMarket matrix coordinate "
     "pattern skew-symmetric\n                                           ^^^^^^^^^^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n% only comments\n",
     "error: a.mtx: expected the line of sizes, found the end of the file"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 x 2\n",
     "error: a.mtx:2:3: expected the number of columns, found 'x'\n  3 x 2\n    ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 -3 2\n",
     "error: a.mtx:2:3: expected the number of columns, found '-3'\n  3 -3 2\n    ^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3\n",
     "error: a.mtx:2:4: expected the number of entries, found the end of the line\n  3 3\n     ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 99999999999999999999\n",
     "error: a.mtx:2:5: expected the number of entries, found '99999999999999999999'\n  3 3 99999999999999999999\n     "
     " "
     "^^^^^^^^^^^^^^^^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix array real general\n3 3 9\n",
     "error: a.mtx:2:5: expected the end of the line, found '9'\n  3 3 9\n      ^\nhint: the sizes of an array are: "
     "rows, "
     "columns"},
    {"a.mtx", "%%MatrixMarket matrix array real general\n9223372036854775807 2\n",
     "error: a.mtx:2:1: the array has more than 2^63 - 1 elements\n  9223372036854775807 2\n  ^^^^^^^^^^^^^^^^^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
     "error: a.mtx:2:1: a matrix of 3 x 4 has no symmetry\n  3 4 1\n  ^^^\nhint: a symmetric matrix has as many "
     "columns "
     "as rows"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.5\n",
     "error: a.mtx: expected 2 entries, found 1\nhint: the file may have been cut short"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 9223372036854775807\n1 1 1.5\n",
     "error: a.mtx: expected 9223372036854775807 entries, found 1\nhint: the file may have been cut short"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1.5\n\n% more\n  2 2 2.5  \n3 3 3\n",
     "error: a.mtx:6:3: expected the end of the file after 1 entries, found another\n    2 2 2.5\n    ^^^^^^^\nhint: "
     "the "
     "size line gives the number of entries"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1.5\n",
     "error: a.mtx:3:1: expected a row of 1 to 3, found '4'\n  4 1 1.5\n  ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 1\n1 1 1.5\n",
     "error: a.mtx:3:1: expected no entry, as there is no row\n  1 1 1.5\n  ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 0 1.5\n",
     "error: a.mtx:3:3: expected a column of 1 to 3, found '0'\n  1 0 1.5\n    ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 99999999999999999999999 1.5\n",
     "error: a.mtx:3:3: expected a column of 1 to 3, found '99999999999999999999999'\n  1 99999999999999999999999 1.5\n"
     "    ^^^^^^^^^^^^^^^^^^^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 -1 1.5\n",
     "error: a.mtx:3:3: expected a column, found '-1'\n  1 -1 1.5\n    ^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1.0 1 1.5\n",
     "error: a.mtx:3:1: expected a row, found '1.0'\n  1.0 1 1.5\n  ^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1\n",
     "error: a.mtx:3:2: expected a column, found the end of the line\n  1\n   ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\n",
     "error: a.mtx:3:4: expected a real number, found the end of the line\n  1 2\n     ^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 abc\n",
     "error: a.mtx:3:5: expected a real number, found 'abc'\n  1 2 abc\n      ^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1.5x\n",
     "error: a.mtx:3:5: expected a real number, found '1.5x'\n  1 2 1.5x\n      ^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1e999\n",
     "error: a.mtx:3:5: '1e999' does not fit double\n  1 2 1e999\n      ^^^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1.5 7\n",
     "error: a.mtx:3:9: expected the end of the line, found '7'\n  1 2 1.5 7\n          ^\nhint: each line has one "
     "entry"},
    {"a.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 1.5\n",
     "error: a.mtx:3:5: expected an integer, found '1.5'\n  1 2 1.5\n      ^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 9223372036854775808\n",
     "error: a.mtx:3:5: '9223372036854775808' does not fit int64\n  1 2 9223372036854775808\n      "
     "^^^^^^^^^^^^^^^^^^^"},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 2147483648\n",
     "error: a.mtx:3:5: '2147483648' does not fit int32\n  1 2 2147483648\n      ^^^^^^^^^^",
     {.type = ScalarType::Int32, .dims = {}}},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 -3.75\n",
     "error: a.mtx:3:5: '-3.75' does not fit int32\n  1 2 -3.75\n      ^^^^^",
     {.type = ScalarType::Int32, .dims = {}}},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 nan\n",
     "error: a.mtx:3:5: 'nan' does not fit int64\n  1 2 nan\n      ^^^",
     {.type = ScalarType::Int64, .dims = {}}},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1 1e39\n",
     "error: a.mtx:3:5: '1 1e39' does not fit complex64\n  1 2 1 1e39\n      ^^^^^^",
     {.type = ScalarType::Complex64, .dims = {}}},
    {"a.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1.5\n",
     "error: a.mtx:3:5: expected a complex number (real and imaginary part), found '1.5'\n  1 2 1.5\n      ^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2 1\n",
     "error: a.mtx:3:5: expected the end of the line, found '1'\n  1 2 1\n      ^\nhint: each line has one entry"},
    {"a.mtx", std::string("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 \x01\xff") + '\0' + "\n",
     "error: a.mtx:3:5: expected a real number, found '?\?\?'\n  1 2 ?\?\?\n      ^^^"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1\n\n2 3 1\n3 1 1\n",
     "error: a.mtx:5:1: an entry above the diagonal, after others below it\n  2 3 1\n  ^^^^^\nhint: a file with a "
     "symmetry "
     "lists one triangle; the other follows from it"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 3 0\n",
     "error: a.mtx:4:1: an entry on the diagonal of a skew-symmetric matrix\n  3 3 0\n  ^^^^^\nhint: the diagonal of "
     "such a "
     "matrix is zero and not listed"},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n",
     "error: a.mtx: the file has complex values, which do not go into double\nhint: read it as complex64 or complex128",
     {.type = ScalarType::Float64, .dims = {}}},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e30\n",
     "error: a.mtx:3:5: '1e30' does not fit int64\n  1 1 1e30\n      ^^^^",
     {.type = ScalarType::Int64, .dims = {}}},
    {"a.mtx",
     "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
     "error: a.mtx: the tensor is 1 x 1, wanted is 2 x 2",
     {.type = {}, .dims = std::vector<int64_t>{2, 2}}},
    {"a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
     "error: a.mtx: expected 4 entries, found 3\nhint: the file may have been cut short"},
    {"a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n2\n",
     "error: a.mtx:4:1: expected the end of the file after 1 entries, found another\n  2\n  ^\nhint: the size line "
     "gives "
     "the number of entries"},
    {"a.tns", "",
     "error: a.tns: the file has no entries, so that nothing tells its order and sizes\nhint: a first line "
     "'# dims: 4 5 6' gives them"},
    {"a.tns", "# dims: 3 x\n", "error: a.tns:1:11: expected a size, found 'x'\n  # dims: 3 x\n            ^"},
    {"a.tns", "1 2 3 4.5\n1 2 4.5\n",
     "error: a.tns:2:5: expected a coordinate of dimension 2, found '4.5'\n  1 2 4.5\n      ^^^"},
    {"a.tns", "1 2 3 4.5\n1 2 3 4 5\n",
     "error: a.tns:2:9: expected the end of the line, found '5'\n  1 2 3 4 5\n          ^\nhint: each line has one "
     "entry"},
    {"a.tns", "1 0 4.5\n",
     "error: a.tns:1:3: expected a coordinate of dimension 1 of 1 to 2^63 - 1, found '0'\n  1 0 4.5\n    ^"},
    {"a.tns",
     "3 3 1\n",
     "error: a.tns:1:1: expected a coordinate of dimension 0 of 1 to 2, found '3'\n  3 3 1\n  ^",
     {.type = {}, .dims = std::vector<int64_t>{2, 3}}},
    {"a.tns",
     "# dims: 2\n1 1 2\n",
     "error: a.tns: the file has complex values, which do not go into float\nhint: read it as complex64 or complex128",
     {.type = ScalarType::Float32, .dims = {}}},
    {"a.mtx.gz", "\x1f\x8b", "error: a.mtx.gz: the compressed data ends too early, after 2 bytes"},
    {"a.mtx.gz", "\x1f\x8bnonsense",
     "error: a.mtx.gz: the compressed data is damaged at byte 4 (unknown compression method)"},
    {"a.spd", "", "error: a.spd: no sound .spd file: it does not start as such a file does"},
    {"a.spd", "%%MatrixMarket matrix coordinate real general of some length",
     "error: a.spd: no sound .spd file: it does not start as such a file does"},
    {"a.csv", "1,2,3",
     "error: the name 'a.csv' tells no file format\nhint: the suffixes are .mtx (Matrix Market, also .gz), .tns "
     "(FROSTT, "
     "also .gz), .npz (SciPy), .h5 (binsparse), .hdf5 (binsparse), .petsc (PETSc) and .spd (native)"},
};

TEST(MalformedFiles, AreRefusedWithFileLineColumnExpectedAndFound) {
  for (const Case& each : cases) {
    Scratch scratch;
    std::string path = scratch.file(each.name, each.text);
    EXPECT_EQ(refusal(scratch, [&] { read_coordinates(path, each.options); }), each.said) << each.text;
  }
}

TEST(MalformedFiles, AreToldFromMissingOnesAndFolders) {
  Scratch scratch;
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(scratch.path("none.mtx")); }),
            "error: cannot open 'none.mtx': No such file or directory");
  std::filesystem::create_directory(scratch.path("folder.mtx"));
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(scratch.path("folder.mtx")); }),
            "error: cannot read 'folder.mtx': Is a directory");
}

TEST(MalformedFiles, AreFoundInTheRightLineOfALargeFileReadInParallel) {
  Scratch scratch;
  std::string text = "%%MatrixMarket matrix coordinate real general\n% a comment\n1000 1000 200000\n";
  for (int e = 0; e < 200000; e++) text += e == 150000 ? "7 x 1.5\n" : e % 1000 == 0 ? "\n1 1 1.25\n" : "12 34 5.625\n";
  std::string path = scratch.file("large.mtx", text);
  // Three lines of header, 150000 entries, and 150 blank lines before it.
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(path); }),
            "error: large.mtx:150154:3: expected a column, found 'x'\n  7 x 1.5\n    ^");
}

TEST(MalformedFiles, AreFoundInTheRightLineOfACompressedFileOfSeveralChunks) {
  Scratch scratch;
  std::string path = scratch.path("large.tns.gz"), block;
  for (int line = 0; line < 1000; line++) block += "123 45678 9 1.0625\n";
  TextSink sink(path);
  for (int n = 0; n < 1200; n++) sink.write(block);  // 23 MB: three chunks
  sink.write("1 2 3 4\n1 2 0x3 4\n");
  sink.commit();
  EXPECT_EQ(refusal(scratch, [&] { read_coordinates(path); }),
            "error: large.tns.gz:1200002:5: expected a coordinate of dimension 2, found '0x3'\n  1 2 0x3 4\n      ^^^");
}

}  // namespace
}  // namespace spdistal
