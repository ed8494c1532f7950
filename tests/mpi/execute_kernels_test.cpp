// The kernels that the paper measures, each with its schedules, in the formats that people store them in and with data in
// every place: against the dense evaluator, on machines of one to seven pieces, with empty rows and with more pieces than
// rows.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "mpi/ranks.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::Leaves;
using test::PlacedText;

struct Kernel {
  std::string name;       // "SpMVOfCsrByRows"
  std::string statement;  // tensors that formats do not list are dense
  std::string formats;
  std::string schedule;     // over M.x pieces
  std::string matching;     // distributions that suit it, ';' between them
  std::string mismatching;  // distributions along other dimensions
};
void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.statement << "  " << kernel.formats; }

constexpr const char* by_rows =
    "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io); parallelize(ii,CPUThread)";

std::vector<Kernel> kernels() {
  std::vector<Kernel> out;
  auto replace = [](std::string text, const std::string& what, const std::string& with) {
    for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size()) text.replace(at, what.size(), with);
    return text;
  };

  // ---- SpMV ----
  std::string spmv = "a(i) = B(i,j) * c(j)";
  std::string rows = "a(x) -> M(x); B(x,y) -> M(x); c(x) -> M(x)",
              columns = "a(x) -> M(x); B(x,y) -> M(y); c(x) -> M(0)";
  std::string shares = "a(x) -> M(x); B(x,y) fuse(x,y,f) -> M(~f); c(x) -> M(x)";
  std::string by_nonzeros =
      "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo); "
      "split(fi,fio,fii,4); parallelize(fio,CPUThread)";
  for (auto [name, format] : {std::pair{"Csr", "B:ds"}, {"Dcsr", "B:ss"}, {"Coo", "B:uq"}}) {
    out.push_back({std::string("SpMVOf") + name + "ByRows", spmv, format, by_rows, rows, columns});
    out.push_back({std::string("SpMVOf") + name + "ByNonZeros", spmv, format, by_nonzeros, shares, columns});
  }
  out.push_back({"SpMVOfCscByRows", spmv, "B:ds:1,0",
                 "divide(i,io,ii,M.x); reorder(io,j,ii); distribute(io); communicate({a,B,c},io)", rows, columns});
  out.push_back({"SpMVOfCscByColumns", spmv, "B:ds:1,0", "divide(j,jo,ji,M.x); distribute(jo); communicate({a,B,c},jo)",
                 "a(x) -> M(x); B(x,y) -> M(y); c(x) -> M(x)", "a(x) -> M(0); B(x,y) -> M(x); c(x) -> M(x)"});
  out.push_back({"SpMVOfCscByNonZeros", spmv, "B:ds:1,0", replace(by_nonzeros, "fuse(i,j,f)", "fuse(j,i,f)"),
                 replace(shares, "fuse(x,y,f)", "fuse(y,x,f)"), columns});

  // ---- SpMM ----
  std::string spmm = "A(i,j) = B(i,k) * C(k,j)";
  std::string spmm_rows = "A(x,y) -> M(x); B(x,y) -> M(x); C(x,y) -> M(x)";
  std::string spmm_columns = "A(x,y) -> M(y); B(x,y) -> M(y); C(x,y) -> M(y)";
  std::string spmm_shares = "A(x,y) -> M(x); B(x,y) fuse(x,y,f) -> M(~f); C(x,y) -> M(x)";
  std::string spmm_by_rows =
      "reorder(i,k,j); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io); parallelize(ii,CPUThread)";
  std::string spmm_by_nonzeros =
      "fuse(i,k,f); pos(f,fp,B(i,k)); divide(fp,fo,fi,M.x); distribute(fo); communicate({A,B,C},fo)";
  for (auto [name, format] : {std::pair{"Csr", "B:ds"}, {"Dcsr", "B:ss"}, {"Coo", "B:uq"}}) {
    out.push_back({std::string("SpMMOf") + name + "ByRows", spmm, format, spmm_by_rows, spmm_rows, spmm_columns});
    out.push_back(
        {std::string("SpMMOf") + name + "ByNonZeros", spmm, format, spmm_by_nonzeros, spmm_shares, spmm_columns});
  }
  out.push_back({"SpMMOfCscByRows", spmm, "B:ds:1,0",
                 "divide(i,io,ii,M.x); reorder(io,k,ii,j); distribute(io); communicate({A,B,C},io)", spmm_rows,
                 spmm_columns});
  out.push_back({"SpMMOfCscByNonZeros", spmm, "B:ds:1,0", replace(spmm_by_nonzeros, "fuse(i,k,f)", "fuse(k,i,f)"),
                 replace(spmm_shares, "fuse(x,y,f)", "fuse(y,x,f)"), spmm_columns});
  out.push_back(
      {"SpMMOfCsrIntoColumnMajorByRows", spmm, "B:ds A:dd:1,0 C:dd:1,0", spmm_by_rows, spmm_rows, spmm_columns});
  out.push_back({"SpGemmOfCsrByRows", spmm, "A:ds B:ds C:ds",
                 "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io)", spmm_rows, spmm_columns});
  out.push_back({"SpGemmOfCsrOverTheSum", spmm, "A:ds B:ds:1,0 C:ds",
                 "reorder(k,i,j); divide(k,ko,ki,M.x); distribute(ko); communicate({A,B,C},ko)",
                 "A(x,y) -> M(x); B(x,y) -> M(y); C(x,y) -> M(x)", spmm_columns});

  // ---- SpAdd3 ----
  std::string add = "A(i,j) = B(i,j) + C(i,j) + D(i,j)";
  std::string add_by_rows = "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io); parallelize(ii,CPUThread)";
  std::string add_rows = "A(x,y) -> M(x); B(x,y) -> M(x); C(x,y) -> M(x); D(x,y) -> M(x)";
  std::string add_columns = "A(x,y) -> M(y); B(x,y) -> M(y); C(x,y) -> M(y); D(x,y) fuse(x,y,f) -> M(~f)";
  out.push_back({"SpAdd3OfCsrByRows", add, "A:ds B:ds C:ds D:ds", add_by_rows, add_rows, add_columns});
  out.push_back({"SpAdd3OfDcsrByRows", add, "A:ss B:ss C:ss D:ss", add_by_rows, add_rows, add_columns});
  out.push_back({"SpAdd3OfCooByRows", add, "A:uq B:uq C:uq D:uq", add_by_rows, add_rows, add_columns});
  out.push_back({"SpAdd3OfMixedFormatsByRows", add, "A:ss B:ds C:uq D:ss", add_by_rows, add_rows, add_columns});
  std::string add_by_columns = replace(add_by_rows, "divide(i,io,ii,M.x)", "divide(j,io,ii,M.x)");
  out.push_back({"SpAdd3OfCscByColumns", add, "A:ds:1,0 B:ds:1,0 C:ds:1,0 D:ds:1,0", add_by_columns,
                 "A(x,y) -> M(y); B(x,y) -> M(y); C(x,y) -> M(y); D(x,y) -> M(y)",
                 "A(x,y) -> M(x); B(x,y) -> M(x); C(x,y) -> M(x); D(x,y) -> M(x)"});
  out.push_back({"SpAdd3OfCscByRows", add, "A:ds:1,0 B:ds:1,0 C:ds:1,0 D:ds:1,0",
                 "divide(i,io,ii,M.x); reorder(io,j,ii); distribute(io); communicate({A,B,C,D},io)", add_rows,
                 add_columns});

  // ---- SDDMM ----
  std::string sddmm = "A(i,j) = B(i,j) * C(i,k) * D(k,j)";
  std::string sddmm_by_rows =
      "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io); parallelize(ii,CPUThread)";
  std::string sddmm_by_nonzeros =
      "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({A,B,C,D},fo); "
      "split(fi,fio,fii,4); parallelize(fio,CPUThread)";
  std::string sddmm_rows = "A(x,y) -> M(x); B(x,y) -> M(x); C(x,y) -> M(x); D(x,y) -> M(y)";
  std::string sddmm_columns = "A(x,y) -> M(y); B(x,y) -> M(y); C(x,y) -> M(y); D(x,y) -> M(x)";
  std::string sddmm_shares = "A(x,y) fuse(x,y,f) -> M(~f); B(x,y) fuse(x,y,f) -> M(~f); C(x,y) -> M(x); D(x,y) -> M(y)";
  for (auto [name, format] : {std::pair{"Csr", "A:ds B:ds"}, {"Dcsr", "A:ss B:ss"}, {"Coo", "A:uq B:uq"}}) {
    out.push_back({std::string("SddmmOf") + name + "ByRows", sddmm, format, sddmm_by_rows, sddmm_rows, sddmm_columns});
    out.push_back(
        {std::string("SddmmOf") + name + "ByNonZeros", sddmm, format, sddmm_by_nonzeros, sddmm_shares, sddmm_columns});
  }
  out.push_back({"SddmmOfCscByNonZeros", sddmm, "A:ds:1,0 B:ds:1,0",
                 replace(sddmm_by_nonzeros, "fuse(i,j,f)", "fuse(j,i,f)"),
                 replace(sddmm_shares, "fuse(x,y,f)", "fuse(y,x,f)"), sddmm_columns});

  // ---- SpTTV ----
  std::string ttv = "A(i,j) = B(i,j,k) * c(k)";
  std::string ttv_by_slices = "divide(i,io,ii,M.x); distribute(io); communicate({A,B,c},io); parallelize(ii,CPUThread)";
  std::string ttv_by_nonzeros =
      "fuse(i,j,f1); fuse(f1,k,f2); pos(f2,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo); communicate({A,B,c},fo)";
  std::string ttv_by_tubes =
      "fuse(i,j,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo); communicate({A,B,c},fo)";
  std::string ttv_slices = "A(x,y) -> M(x); B(x,y,z) -> M(x); c(x) -> M(x)";
  std::string ttv_wrong = "A(x,y) -> M(y); B(x,y,z) -> M(z); c(x) -> M(0)";
  std::string ttv_shares = "A(x,y) fuse(x,y,f) -> M(~f); B(x,y,z) fuse(x,y,z,f) -> M(~f); c(x) -> M(x)";
  std::string ttv_tubes = "A(x,y) fuse(x,y,f) -> M(~f); B(x,y,z) fuse(x,y,f) -> M(~f); c(x) -> M(x)";
  for (auto [name, format] : {std::pair{"DenseSlices", "A:ds B:dss"}, {"Csf", "A:ss B:sss"}, {"Coo", "A:ss B:uqq"}}) {
    out.push_back({std::string("SpTtvOf") + name + "BySlices", ttv, format, ttv_by_slices, ttv_slices, ttv_wrong});
    out.push_back({std::string("SpTtvOf") + name + "ByNonZeros", ttv, format, ttv_by_nonzeros, ttv_shares, ttv_wrong});
  }
  out.push_back({"SpTtvOfDenseSlicesByTubes", ttv, "A:ds B:dss", ttv_by_tubes, ttv_tubes, ttv_wrong});
  out.push_back({"SpTtvOfCsfByTubes", ttv, "A:ss B:sss", ttv_by_tubes, ttv_tubes, ttv_wrong});

  // ---- SpMTTKRP ----
  std::string mttkrp = "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)";
  std::string mttkrp_by_slices =
      "reorder(i,j,k,l); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io); parallelize(ii,CPUThread)";
  std::string mttkrp_by_nonzeros =
      "reorder(i,j,k,l); fuse(j,k,f1); fuse(i,f1,f2); pos(f2,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo); "
      "communicate({A,B,C,D},fo)";
  std::string mttkrp_slices = "A(x,y) -> M(x); B(x,y,z) -> M(x); C(x,y) -> M(x); D(x,y) -> M(x)";
  std::string mttkrp_wrong = "A(x,y) -> M(y); B(x,y,z) -> M(z); C(x,y) -> M(y); D(x,y) -> M(0)";
  std::string mttkrp_shares = "A(x,y) -> M(x); B(x,y,z) fuse(x,y,z,f) -> M(~f); C(x,y) -> M(x); D(x,y) -> M(x)";
  for (auto [name, format] :
       {std::pair{"DenseSlices", "B:dss"}, {"DenseTubes", "B:dds"}, {"Csf", "B:sss"}, {"Coo", "B:uqq"}}) {
    out.push_back(
        {std::string("MttkrpOf") + name + "BySlices", mttkrp, format, mttkrp_by_slices, mttkrp_slices, mttkrp_wrong});
    out.push_back({std::string("MttkrpOf") + name + "ByNonZeros", mttkrp, format, mttkrp_by_nonzeros, mttkrp_shares,
                   mttkrp_wrong});
  }
  return out;
}

class Kernels : public ::testing::TestWithParam<Kernel> {
 protected:
  static std::vector<std::string> listed(const std::string& distributions) {
    std::vector<std::string> out;
    for (size_t at = 0; at < distributions.size();) {
      size_t end = std::min(distributions.find(';', at), distributions.size());
      out.emplace_back(trim(distributions.substr(at, end - at)));
      at = end + 1;
    }
    return out;
  }
  // Every tensor of a list of distributions, a copy on every colour.
  static std::vector<std::string> replicated(const std::string& distributions) {
    std::vector<std::string> out;
    for (const std::string& d : listed(distributions))
      out.push_back(d.substr(0, d.find(')') + 1) + " -> M(everywhere)");
    return out;
  }

  static PlacedText text(int pieces, bool few_rows) {
    const Kernel& k = GetParam();
    PlacedText out{.statement = k.statement, .formats = k.formats, .sizes = {{"i", 9}, {"j", 8}, {"k", 7}, {"l", 3}}};
    if (few_rows) out.sizes = {{"i", 3}, {"j", 2}, {"k", 5}, {"l", 2}};
    out.machine = std::to_string(pieces);
    out.schedule = k.schedule;
    return out;
  }

  struct Size {
    int pieces;
    bool few_rows;
  };
  // On all machines, with many rows and with few. Each number of ranks takes every other one, and the next number those
  // between.
  template <class F>
  static void check(F&& place) {
    static constexpr Size all[] = {{1, false}, {4, true}, {2, false}, {7, true}, {3, false}, {7, false}};
    runtime::testkit::on_ranks([&](Transport& t) {
      for (size_t k = size_t(t.size()) % 2; k < std::size(all); k += 2)
        if (!is_right(t, all[k], place, Leaves::Interpreted)) return;
    });
  }

  template <class F>
  static bool is_right(Transport& t, const Size& size, F&& place, Leaves leaves) {
    PlacedText program = text(size.pieces, size.few_rows);
    place(program);
    std::string fault = test::find_fault(t, program, uint64_t(size.pieces), leaves);
    if (!fault.empty()) ADD_FAILURE() << fault;
    return t.allreduce(int32_t(!fault.empty()), runtime::ReduceOp::Max) == 0;
  }
};

TEST_P(Kernels, AreRightWhereDataAndComputationMatch) {
  check([](PlacedText& text) { text.distributions = listed(GetParam().matching); });
}
TEST_P(Kernels, AreRightWhereDataIsCutAlongOtherDimensions) {
  check([](PlacedText& text) { text.distributions = listed(GetParam().mismatching); });
}
TEST_P(Kernels, AreRightWherePiecesGoToTheColoursTheOtherWayRound) {
  check([](PlacedText& text) {
    text.distributions = listed(GetParam().matching);
    for (const std::string& d : text.distributions) text.reversed.push_back(d.substr(0, 1));
  });
}
TEST_P(Kernels, AreRightWhereNobodySaidWhereDataLives) {
  check([](PlacedText&) {});
}
TEST_P(Kernels, AreRightWhereEveryColourHoldsACopyOfAll) {
  check([](PlacedText& text) { text.distributions = replicated(GetParam().matching); });
}

INSTANTIATE_TEST_SUITE_P(Named, Kernels, ::testing::ValuesIn(kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

// Compiling takes time: one format of each.
class CompiledKernels : public Kernels {};

TEST_P(CompiledKernels, AreRightWhereDataIsCutAlongOtherDimensions) {
  auto place = [](PlacedText& text) { text.distributions = listed(GetParam().mismatching); };
  runtime::testkit::on_ranks([&](Transport& t) {
    for (Size size : {Size{3, false}, Size{7, true}})
      if (!is_right(t, size, place, Leaves::Compiled)) return;
  });
}

std::vector<Kernel> compiled_kernels() {
  std::vector<Kernel> out;
  for (const Kernel& kernel : kernels())
    if (kernel.name.find("OfCsrBy") != kernel.name.npos || kernel.name.find("OfDenseSlicesBy") != kernel.name.npos)
      out.push_back(kernel);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Named, CompiledKernels, ::testing::ValuesIn(compiled_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

}  // namespace
}  // namespace spdistal
