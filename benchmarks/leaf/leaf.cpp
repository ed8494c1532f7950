// Kernels that are compiled against loops that are written by hand, on one node: bench_leaf [size] [kernel].
//
// Times go from the statement to a tensor that can be used: making room for the result counts, on both sides, and both
// reuse the memory of the run before. Results are compared before anything is timed.
#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "codegen/jit.hpp"
#include "compile/choose.hpp"
#include "execute/call.hpp"
#include "hand/hand.hpp"
#include "inputs.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "schedule/parse.hpp"
#include "spdistal/error.hpp"
#include "stopwatch.hpp"
#include "tensor/blocks.hpp"

using namespace spdistal;

namespace {

struct Operand {
  std::string name;
  const Storage* data;
};

/// One kernel on one input: the statement, its tensors, the loop written by hand, and the schedule that is best.
struct Case {
  std::string kernel, input, statement, result_format, best;
  std::vector<int64_t> result_dims;
  std::vector<Operand> operands;
  std::function<void(hand::Made&)> loop;
  double bytes;  // every array read or written once; 0: as the result's size tells
};

/// The same statement, compiled.
class Compiled {
 public:
  Compiled(const Case& of, codegen::Jit& jit, std::string_view schedule) {
    notation::ParseScope scope;
    auto declare = [&](const std::string& name, const std::vector<int64_t>& dims, const Format& format) {
      std::vector<Extent> extents;
      for (int64_t n : dims) extents.push_back(n == hand::columns || n == 4 || n == 8 ? Extent(n) : Extent(size_of(n)));
      return scope.tensors.emplace(name, notation::TensorVar({Symbol(name), ScalarType::Float64, extents, format}))
          .first->second;
    };
    declare(of.statement.substr(0, of.statement.find('(')), of.result_dims, Format::parse(of.result_format));
    for (const Operand& each : of.operands)
      storages_.emplace(declare(each.name, each.data->dims(), each.data->format()), each.data);
    notation::Assignment assignment = notation::parse_assignment(of.statement, scope);
    notation::ConcreteStatement loops = notation::concretize(assignment).value();
    if (schedule.empty()) loops = over_threads(loops);
    else loops = schedule::apply_text(schedule, {scope}, loops).statement;
    leaf_.emplace(loops, storages_);
    kernel_.emplace(jit.load(leaf_->function()));
  }

  void run(runtime::HostContext& context) {
    result_.reset();
    result_.emplace(compute(*leaf_, storages_, context, [&](spd_call& call) { (*kernel_)(call); }));
  }
  const Storage& result() const { return *result_; }
  const std::string& text() const { return kernel_->text(); }

 private:
  Param size_of(int64_t n) {
    auto [it, fresh] = sizes_.try_emplace(n);
    if (fresh) it->second.bind(n);
    return it->second;
  }

  std::map<int64_t, Param> sizes_;
  Storages storages_;
  std::optional<Leaf> leaf_;
  std::optional<codegen::Kernel> kernel_;
  std::optional<Storage> result_;
};

/// The largest difference relative to the largest value; infinite where coordinates differ.
double difference(const Storage& ours, const hand::Made& theirs) {
  double most = 0, largest = 1e-300;
  for (size_t k = 0; k < ours.order(); k++) {
    const LevelArrays& level = ours.pattern().level(k);
    const IndexArray* crd = find_array(ours.format().levels()[k], level, Holds::Coordinates);
    if (k + 1 != ours.order() || !crd || !theirs.crd) continue;
    for (int64_t p = 0; p < crd->size(); p++)
      if ((*crd)[p] != theirs.crd[p]) return INFINITY;
  }
  std::span<const double> values = ours.values<double>();
  for (size_t p = 0; p < values.size(); p++) {
    most = std::max(most, std::abs(values[p] - theirs.vals[p]));
    largest = std::max(largest, std::abs(theirs.vals[p]));
  }
  return most / largest;
}

double triad(int threads) {
  constexpr int64_t n = 20000000;
  omp_set_num_threads(threads);
  Buffer a = Buffer::zeroed(n * 8), b = Buffer::zeroed(n * 8), c = Buffer::zeroed(n * 8);
  auto at = [](Buffer& buffer) { return reinterpret_cast<double*>(buffer.data()); };
  std::vector<double> speeds;
  for (int r = 0; r < 12; r++) speeds.push_back(hand::triad(at(a), at(b), at(c), n, r));
  return median_of({speeds.begin() + 2, speeds.end()});
}

bool measure(const Case& of, codegen::Jit& jit) {
  Compiled standard(of, jit, ""), best(of, jit, of.best);
  if (std::getenv("SHOW")) fmt::print("{}\n{}\n", standard.text(), best.text());
  hand::Made made;
  for (int threads : {1, 2}) {
    runtime::HostContext context(threads);
    omp_set_num_threads(threads);
    std::vector<Contestant> contestants{{"hand", {}, [&] { of.loop(made); }},
                                        {"default", {}, [&] { standard.run(context); }},
                                        {"best", {}, [&] { best.run(context); }}};
    for (Contestant& each : contestants) each.run();
    double off = std::max(difference(standard.result(), made), difference(best.result(), made));
    if (!(off < 1e-12)) {
      fmt::print("{:<10} {:<10} the results differ by {:.1e}\n", of.kernel, of.input, off);
      return false;
    }
    double speed = triad(threads), bytes = of.bytes;
    if (bytes == 0) {
      bytes = double(best.result().bytes());
      for (const Operand& each : of.operands) bytes += double(each.data->bytes());
    }
    race(contestants, 2);
    double once = contestants[0].median() + contestants[1].median() + contestants[2].median();
    for (Contestant& each : contestants) each.seconds.clear(), each.processor_seconds.clear();
    race(contestants, std::clamp(int(2.5 / once), 5, 20));
    const Contestant &byhand = contestants[0], &plain = contestants[1], &good = contestants[2];
    fmt::print(
        "{:<10} {:<10} {} thread{} hand {:8.2f} ms   default {:4.2f} x ({:4.2f})   best {:4.2f} x ({:4.2f})   "
        "{:3.0f} % of triad, {:4.1f} GB/s   off by {:.0e}\n",
        of.kernel, of.input, threads, threads == 1 ? " " : "s", byhand.median() * 1e3, byhand.median() / plain.median(),
        byhand.processor() / plain.processor(), byhand.median() / good.median(), byhand.processor() / good.processor(),
        100 * bytes / good.median() / speed, speed * 1e-9, off);
    std::fflush(stdout);
  }
  return true;
}

hand::Csr csr(const Storage& s) {
  return {s.dims()[0], s.dims()[1], s.pattern().level(1)["pos"].as<int32_t>().data(),
          s.pattern().level(1)["crd"].as<int32_t>().data(), s.values<double>().data()};
}
hand::Csf csf(const Storage& s) {
  const Pattern& p = s.pattern();
  return {s.dims()[0],
          p.level(1)["pos"].as<int32_t>().data(),
          p.level(1)["crd"].as<int32_t>().data(),
          p.level(2)["pos"].as<int32_t>().data(),
          p.level(2)["crd"].as<int32_t>().data(),
          s.values<double>().data()};
}
hand::Coo coo(const Storage& s) {
  return {s.dims()[0], s.nnz(), s.pattern().level(0)["crd"].as<int32_t>().data(),
          s.pattern().level(1)["crd"].as<int32_t>().data(), s.values<double>().data()};
}
hand::Bcsr bcsr(const Storage& s) {
  return {s.dims()[0], s.pattern().level(1)["pos"].as<int32_t>().data(),
          s.pattern().level(1)["crd"].as<int32_t>().data(), s.values<double>().data()};
}
const double* values(const Storage& s) { return s.values<double>().data(); }

}  // namespace

int main(int argc, char** argv) try {
  double size = argc > 1 ? std::atof(argv[1]) : 1;
  std::string only = argc > 2 ? argv[2] : "";
  auto wanted = [&](const char* kernel) { return only.empty() || only == kernel; };
  constexpr int64_t l = hand::columns;
  codegen::Jit jit{codegen::JitOptions{}};
  bool right = true;
  auto go = [&](const Case& c) { right &= measure(c, jit); };
  fmt::print("ratios are speed against the loop written by hand, by wall time (by time of the processors)\n");

  auto n = int64_t(size * 1e6);
  int levels = 20 + int(std::lround(std::log2(size)));
  struct Matrix {
    std::string name;
    std::function<Coordinates()> make;
    std::function<Coordinates()> small;  // for products of two
  };
  std::vector<Matrix> matrices{
      {"banded", [&] { return inputs::banded(n, 11); }, [&] { return inputs::banded(n / 10, 11); }},
      {"uniform", [&] { return inputs::uniform(n, 10); }, [&] { return inputs::uniform(n / 10, 10); }},
      {"R-MAT", [&] { return inputs::rmat(levels, 16); }, [&] { return inputs::rmat(levels - 6, 8); }}};
  for (const Matrix& m : matrices) {
    if (only == "SpTTV" || only.starts_with("SpMTTKRP")) break;
    Storage b = pack(m.make(), CSR);
    auto nnz = double(b.nnz());
    int64_t rows = b.dims()[0], cols = b.dims()[1];
    auto all = double(rows + cols);
    if (wanted("SpMV")) {
      Storage c = inputs::dense({cols}, 1, "d");
      go({"SpMV",
          m.name,
          "a(i) = B(i,j) * c(j)",
          "d",
          "parallelize(i, CPUThread)",
          {rows},
          {{"B", &b}, {"c", &c}},
          [&](hand::Made& out) { hand::spmv(csr(b), values(c), out); },
          12 * nnz + 8 * all + 4.0 * double(rows)});
    }
    if (wanted("SpMM")) {
      Storage c = inputs::dense({cols, l}, 2, "dd");
      go({"SpMM",
          m.name,
          "A(i,j) = B(i,k) * C(k,j)",
          "dd",
          "reorder(i, k, j); parallelize(i, CPUThread); parallelize(j, CPUVector)",
          {rows, l},
          {{"B", &b}, {"C", &c}},
          [&](hand::Made& out) { hand::spmm(csr(b), values(c), out); },
          12 * nnz + 8 * l * all});
    }
    const std::string by_nonzeros = "fuse(i,K,f); pos(f,fp,B(i,K)); split(fp,fo,fi,2048); parallelize(fo,CPUThread)";
    auto over = [&](char var) {
      std::string out = by_nonzeros;
      std::replace(out.begin(), out.end(), 'K', var);
      return out;
    };
    if (wanted("SpMV-nz")) {
      Storage c = inputs::dense({cols}, 1, "d");
      go({"SpMV-nz",
          m.name,
          "a(i) = B(i,j) * c(j)",
          "d",
          over('j'),
          {rows},
          {{"B", &b}, {"c", &c}},
          [&](hand::Made& out) { hand::spmv_by_nonzeros(csr(b), values(c), out); },
          12 * nnz + 8 * all + 4.0 * double(rows)});
    }
    if (wanted("COO-nz")) {
      Storage list = pack(m.make(), COO(2)), c = inputs::dense({cols}, 1, "d");
      go({"COO-nz",
          m.name,
          "a(i) = B(i,j) * c(j)",
          "d",
          over('j'),
          {rows},
          {{"B", &list}, {"c", &c}},
          [&](hand::Made& out) { hand::spmv_by_nonzeros(coo(list), values(c), out); },
          16 * nnz + 8 * all});
    }
    if (wanted("SpMM-nz")) {
      Storage c = inputs::dense({cols, l}, 2, "dd");
      go({"SpMM-nz",
          m.name,
          "A(i,j) = B(i,k) * C(k,j)",
          "dd",
          "reorder(i, k, j); " + over('k') + "; parallelize(j, CPUVector)",
          {rows, l},
          {{"B", &b}, {"C", &c}},
          [&](hand::Made& out) { hand::spmm_by_nonzeros(csr(b), values(c), out); },
          12 * nnz + 8 * l * all});
    }
    auto in_blocks = [&]<int64_t block>() {
      const std::string spmv = fmt::format("BCSR{}-SpMV", block), spmm = fmt::format("BCSR{}-SpMM", block);
      if (!wanted(spmv.c_str()) && !wanted(spmm.c_str())) return;
      Format blocks = BCSR(block, block);
      Storage blocked = pack(stored_entries(blocks, m.make()), blocks);
      int64_t down = blocked.dims()[0], across = blocked.dims()[1];
      auto held = double(blocked.nnz()), index = 4 * held / (block * block) + 4.0 * double(down);
      if (wanted(spmv.c_str())) {
        Storage c = inputs::dense({across, block}, 1, "dd");
        go({spmv,
            m.name,
            "a(io,ii) = B(io,jo,ii,ji) * c(jo,ji)",
            "dd",
            "parallelize(io, CPUThread)",
            {down, block},
            {{"B", &blocked}, {"c", &c}},
            [&](hand::Made& out) { hand::spmv<block>(bcsr(blocked), values(c), out); },
            8 * held + index + 8 * all});
      }
      if (wanted(spmm.c_str())) {
        Storage c = inputs::dense({across, block, l}, 2, "ddd");
        go({spmm,
            m.name,
            "A(io,ii,j) = B(io,ko,ii,ki) * C(ko,ki,j)",
            "ddd",
            "reorder(io, ko, ii, ki, j); parallelize(io, CPUThread); parallelize(j, CPUVector)",
            {down, block, l},
            {{"B", &blocked}, {"C", &c}},
            [&](hand::Made& out) { hand::spmm<block>(bcsr(blocked), values(c), out); },
            8 * held + index + 8 * l * all});
      }
    };
    in_blocks.template operator()<4>();
    in_blocks.template operator()<8>();
    if (wanted("SDDMM")) {
      Storage c = inputs::dense({rows, l}, 3, "dd"), d = inputs::dense({l, cols}, 4, "dd:1,0");
      go({"SDDMM",
          m.name,
          "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
          "ds",
          "precompute(C(i,k) * D(k,j), {}, {}, w); parallelize(i, CPUThread); parallelize(k, CPUVector)",
          {rows, cols},
          {{"B", &b}, {"C", &c}, {"D", &d}},
          [&](hand::Made& out) { hand::sddmm(csr(b), values(c), values(d), out); },
          24 * nnz + 8 * l * all});
    }
    if (wanted("SpAdd3")) {
      Storage c = pack(inputs::shifted(m.make(), 1), CSR), d = pack(inputs::shifted(m.make(), 2), CSR);
      go({"SpAdd3",
          m.name,
          "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
          "ds",
          "parallelize(i, CPUThread)",
          {rows, cols},
          {{"B", &b}, {"C", &c}, {"D", &d}},
          [&](hand::Made& out) { hand::spadd3(csr(b), csr(c), csr(d), out); },
          12 * 5 * nnz + 16.0 * double(rows)});
    }
    if (wanted("SpGEMM")) {
      Storage s = pack(m.small(), CSR);
      go({"SpGEMM",
          m.name,
          "A(i,j) = B(i,k) * C(k,j)",
          "ds",
          "reorder(i, k, j); parallelize(i, CPUThread)",
          s.dims(),
          {{"B", &s}, {"C", &s}},
          [&](hand::Made& out) { hand::spgemm(csr(s), csr(s), out); },
          0});
    }
    if (wanted("Transpose"))
      go({"Transpose",
          m.name,
          "A(i,j) = B(j,i)",
          "ds",
          "parallelize(j, CPUThread)",
          {cols, rows},
          {{"B", &b}},
          [&](hand::Made& out) { hand::transpose(csr(b), out); },
          0});
  }
  for (auto [name, power] : {std::pair("uniform 3", 1.0), std::pair("skewed 3", 3.0)}) {
    if (!wanted("SpTTV") && !wanted("SpMTTKRP") && !wanted("SpMTTKRP-nz")) break;
    Storage b = pack(inputs::tensor3(int64_t(size * 5e6), power), Format::parse("dss"));
    auto nnz = double(b.nnz()), tubes = double(b.pattern().level(1).positions);
    if (wanted("SpTTV")) {
      Storage c = inputs::dense({b.dims()[2]}, 5, "d");
      go({"SpTTV",
          name,
          "A(i,j) = B(i,j,k) * c(k)",
          "ds",
          "parallelize(i, CPUThread)",
          {b.dims()[0], b.dims()[1]},
          {{"B", &b}, {"c", &c}},
          [&](hand::Made& out) { hand::spttv(csf(b), values(c), out); },
          12 * nnz + 12 * tubes});
    }
    auto mttkrp = [&](const char* kernel, const char* best, auto* loop) {
      if (!wanted(kernel)) return;
      Storage c = inputs::dense({b.dims()[1], l}, 6, "dd"), d = inputs::dense({b.dims()[2], l}, 7, "dd");
      go({kernel,
          name,
          "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
          "dd",
          best,
          {b.dims()[0], l},
          {{"B", &b}, {"C", &c}, {"D", &d}},
          [&](hand::Made& out) { loop(csf(b), values(c), values(d), out); },
          12 * nnz + 8 * tubes + 8.0 * l * double(b.dims()[0] + b.dims()[1] + b.dims()[2])});
    };
    mttkrp("SpMTTKRP", "reorder(i, j, k, l); parallelize(i, CPUThread); parallelize(l, CPUVector)", hand::spmttkrp);
    mttkrp("SpMTTKRP-nz",
           "reorder(i,j,k,l); fuse(i,j,f); fuse(f,k,g); pos(g,gp,B(i,j,k)); split(gp,go,gi,2048); "
           "parallelize(go,CPUThread)",
           hand::spmttkrp_by_nonzeros);
  }
  return right ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print("{}\n", error.what());
  return 1;
}
