#include <algorithm>

#include "ir/build.hpp"
#include "passes/row_grids.hpp"
#include "passes/rows/walked.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

Grid look_up(const RowBlocks& blocks, const Var& rows, const std::string& name) {
  Var block = var("block", Int64);
  ParallelRegion each{block, blocks.count() + 1, {}, blocks.look_up(rows, block)};
  return grid_of(each, name + "_rows", {.lanes = 1});
}

RowGrids grids_of(const RowBlocks& blocks, const BlockBody& what, const std::string& name) {
  Var rows = var("rows", array_of(ScalarType::Int64)), count = var("blocks", Int64);
  Stmt whole = blocks_of_threads(count, what.threads, [&](const Var& of, const Var& thread) {
    std::vector<Stmt> stmts = blocks.declarations(of);
    stmts.push_back(what.body(rows, of, thread));
    return Block{stmts};
  });
  return RowGrids{rows, (blocks.count() + 1) * blocks.starts(), blocks.count(), look_up(blocks, rows, name),
                  Grid{.function = function_of(name, whole),
                       .items = blocks.count(),
                       .lanes = what.threads,
                       .threads = what.threads,
                       .blocks = count,
                       .strided = false}};
}

// A run is taken by as many lanes as its columns are worth; by one it would be none.
std::optional<RowGrids> grids_of_runs(const RowBlocks& runs, const std::string& name, const GridMapping& mapping) {
  Var rows = var("rows", array_of(ScalarType::Int64)), run = var("run", Int64);
  std::optional<Stmt> body = run_of_positions(runs, rows, run);
  if (!body) return {};
  Grid walk = grid_of({run, runs.count(), {}, *body}, name, mapping);
  if (walk.lanes == 1) return {};
  return RowGrids{rows, (runs.count() + 1) * runs.starts(), runs.count(), look_up(runs, rows, name), walk};
}

}  // namespace

std::optional<RowGrids> row_grids(const ParallelRegion& region, const std::string& name, const GridMapping& mapping) {
  if (!region.setup.empty() || mapping.lanes) return {};
  std::optional<WalkedRows> walk = walked_rows(region);
  if (!walk) return {};
  RowBlocks blocks{*walk, mapping.products};
  if (auto sums = summing_block(blocks)) return grids_of(blocks, *sums, name);
  blocks.room = std::max(mapping.products / 16, 4);
  if (auto runs = grids_of_runs(blocks, name, mapping)) return runs;
  blocks.room = std::max(mapping.products / 8, warp_size);
  if (auto apart = block_of_positions(blocks, mapping)) return grids_of(blocks, *apart, name);
  return {};
}

}  // namespace spdistal::passes
