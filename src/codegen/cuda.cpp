#include "codegen/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "codegen/helpers.hpp"
#include "codegen/stmt_text.hpp"
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/interpret.hpp"

namespace spdistal::codegen {

using namespace ir;

namespace {

/// The one loop of this kind, and the constants declared before it.
struct Found {
  std::vector<Stmt> before;
  const For* loop = nullptr;
};
Found find(const Stmt& s, std::initializer_list<LoopKind> kinds) {
  Found out;
  auto look = [&](const Stmt& t) {
    auto* loop = t.as<For>();
    if (loop && std::ranges::find(kinds, loop->kind) != kinds.end()) {
      require(!out.loop, "a GPU kernel has one loop over blocks and one over threads");
      out.loop = loop;
    } else if (!t.is<Comment>()) {
      require(t.is<Declare>() || *kinds.begin() != LoopKind::GPUBlock,
              "only constants stand before the loop over blocks");
      if (!out.loop) out.before.push_back(t);
    }
  };
  if (auto* block = s.as<Block>())
    for (const Stmt& t : block->stmts) look(t);
  else look(s);
  require(out.loop != nullptr, "a GPU kernel has a loop over blocks and in it one over threads");
  return out;
}

struct Parts {
  Found blocks;
  int64_t threads;
};
Parts parts_of(const Function& f) {
  Found blocks = find(f.body, {LoopKind::GPUBlock});
  Found inside = find(blocks.loop->body, {LoopKind::GPUThread, LoopKind::GPUWarp});
  auto lo = constant_integer(inside.loop->lo), hi = constant_integer(inside.loop->hi);
  int64_t threads = lo && hi ? (*hi - *lo) * (inside.loop->kind == LoopKind::GPUWarp ? warp_size : 1) : 0;
  require(threads >= 1 && threads <= 1024, "a block has a literal number of threads, at most 1024");
  return {blocks, threads};
}

std::string definition(const Function& f, int64_t threads, Needs& needs) {
  StmtText text(spelling(Language::Cuda), needs);
  text.names().reserve(f.name);
  std::string params = text.parameter_list(f);
  text.stmt(f.body);
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n", threads, f.name, params,
                     text.take());
}

std::string with_preamble(const std::string& definitions, const Needs& needs) {
  return fmt::format("#include \"abi.h\"\n{}\n{}", preamble(spelling(Language::Cuda), needs), definitions);
}

}  // namespace

std::string cuda_text(const std::vector<Function>& functions) {
  Needs needs;
  std::string definitions;
  for (const Function& f : functions)
    definitions += (definitions.empty() ? "" : "\n") + definition(f, parts_of(f).threads, needs);
  return with_preamble(definitions, needs);
}

CudaKernel cuda_kernel(const Function& f) {
  auto [blocks, threads] = parts_of(f);
  Needs needs;
  std::string text = with_preamble(definition(f, threads, needs), needs);

  // The number of blocks as a function of its own, of the whole numbers alone.
  FunctionBuilder count(f.name + "_blocks");
  Var result = count.array("blocks", 0, ScalarType::Int64, Access::Write);
  for (const Stmt& s : blocks.before) {
    require(!has_loads(s.as<Declare>()->init), "the number of blocks depends on numbers alone");
    count.add(s);
  }
  count.store(result, 0, cast(ScalarType::Int64, binary(BinaryOp::Sub, blocks.loop->hi, blocks.loop->lo)));
  Function counting = count.build();
  for (const Param& p : f.params)
    if (!p.var.type.is_array()) counting.params.push_back(p);

  return {f.name, text, counting, int(threads)};
}

int64_t block_count(const CudaKernel& kernel, const spd_call& call) {
  int64_t count = 0;
  spd_array result{&count, 1, nullptr};
  spd_call host = call;
  host.arrays = &result;
  interpret(kernel.blocks, host);
  return count;
}

}  // namespace spdistal::codegen
