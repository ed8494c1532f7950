#include <algorithm>

#include "ir/build.hpp"
#include "passes/row_grids.hpp"
#include "passes/rows/walked.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

RowGrids grids_of(const RowBlocks& blocks, const BlockBody& what, const std::string& name) {
  Var rows = var("rows", array_of(ScalarType::Int64)), block = var("block", Int64), count = var("blocks", Int64);
  ParallelRegion each{block, blocks.count() + 1, {}, store(rows, block, blocks.row_of(block))};
  Stmt whole = blocks_of_threads(count, what.threads, [&](const Var& of, const Var& thread) {
    std::vector<Stmt> stmts = blocks.declarations(of);
    stmts.push_back(what.body(rows, of, thread));
    return Block{stmts};
  });
  return RowGrids{rows, blocks.count(), grid_of(each, name + "_rows", {.lanes = 1}),
                  Grid{.function = function_of(name, whole),
                       .items = blocks.count(),
                       .lanes = what.threads,
                       .threads = what.threads,
                       .blocks = count,
                       .strided = false}};
}

}  // namespace

std::optional<RowGrids> row_grids(const ParallelRegion& region, const std::string& name, const GridMapping& mapping) {
  if (!region.setup.empty() || mapping.lanes) return {};
  std::optional<WalkedRows> walk = walked_rows(region);
  if (!walk) return {};
  RowBlocks blocks{*walk, mapping.products};
  if (auto sums = summing_block(blocks)) return grids_of(blocks, *sums, name);
  blocks.room = std::max(mapping.products / 8, warp_size);
  if (auto apart = block_of_positions(blocks, mapping)) return grids_of(blocks, *apart, name);
  return {};
}

}  // namespace spdistal::passes
