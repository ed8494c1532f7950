// Data on its way into tensors, on any number of ranks.
#include <fmt/format.h>

#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "compile/described.hpp"
#include "io/files.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/blocks.hpp"
#include "tensor/distribute.hpp"
#include "tensor/rows.hpp"
#include "tensor/slices.hpp"

namespace spdistal {
namespace {

// Ranks must mean the same kind of insertion; one that inserted nothing takes part in either.
Inserted agree_on_insertion(const TensorState& tensor) {
  uint8_t all = 0;
  for (uint8_t mine : transport().allgather(uint8_t(tensor.inserted_by))) all |= mine;
  if (Inserted(all) == Inserted::Both)
    throw UserError(
        fmt::format("{} has entries of both insert and insert_local before one pack()", shown(tensor.var)),
        "insert takes the same entries on every rank, insert_local each rank its own: use one of them for all");
  return Inserted(all);
}

}  // namespace

void set_entries(TensorState& tensor, Coordinates mine) {
  waiting().before_change(tensor);
  auto what = [&] { return described(tensor.var); };
  memory::Purpose purpose(what);
  if (is_ordinary(tensor.var.format(), mine.order())) tensor.ordinary = mine.dims();
  mine = runtime::together(transport(), [&] { return stored_entries(tensor.var.format(), std::move(mine)); });
  set_sizes(tensor, mine.dims());
  set_home(tensor, pack(transport(), std::move(mine), tensor.var.format(), shares_of(tensor)));
}

void pack_inserted(TensorState& tensor) {
  auto what = [&] { return described(tensor.var); };
  memory::Purpose purpose(what);
  Inserted how = agree_on_insertion(tensor);
  Coordinates mine =
      tensor.inserted ? std::move(*tensor.inserted) : Coordinates(notation::known_dims(tensor.var), tensor.var.type());
  tensor.inserted.reset();
  tensor.inserted_by = Inserted::Nothing;
  if (how == Inserted::Parts) return set_entries(tensor, std::move(mine));
  waiting().before_change(tensor);
  set_home(tensor, pack_alike(transport(), std::move(mine), tensor.var.format(), shares_of(tensor)));
}

void write_contents(TensorState& tensor, const std::string& path) {
  const Home& home = data_of(tensor);
  if (tensor.var.format().blocks().empty() || file_format_of(path).keeps_storage)
    return write_home(transport(), path, home);
  write_home(transport(), path, put_together(transport(), home, tensor.ordinary));
}

void set_rows(TensorState& tensor, const Rows& rows, Inserted how, Loan loan) {
  auto what = [&] { return described(tensor.var); };
  memory::Purpose purpose(what);
  tensor.inserted_by = how;
  agree_on_insertion(tensor);
  tensor.inserted_by = Inserted::Nothing;
  waiting().before_change(tensor);
  const Format& format = tensor.var.format();
  bool as_stored = format.levels() == CSR.levels() && format.mode_order() == CSR.mode_order();
  if (as_stored && transport().allreduce(int64_t(are_in_order(rows)), runtime::ReduceOp::Min) == 1) {
    Storage storage = as_storage(rows, format);
    bool alike = how == Inserted::Alike;
    if (alike) runtime::agree_same(transport(), hash(rows), "the list of entries");
    if (auto home = alike ? keep_slices(transport(), storage, format, shares_of(tensor))
                          : move_slices(transport(), storage, format, shares_of(tensor), loan))
      return set_home(tensor, std::move(*home));
  }
  Coordinates mine = runtime::together(transport(), [&] { return stored_entries(format, as_entries(rows)); });
  if (how == Inserted::Parts) return set_entries(tensor, std::move(mine));
  set_home(tensor, pack_alike(transport(), std::move(mine), format, shares_of(tensor)));
}

Coordinates read_entries(const TensorState& tensor, const std::string& path) {
  auto what = [&] { return fmt::format("what {} reads from {}", described(tensor.var), path); };
  memory::Purpose purpose(what);
  const Format& format = tensor.var.format();
  runtime::agree_on_texts(transport(), {path}, "reads", "every rank reads the same files, in the same order");
  std::vector<std::optional<int64_t>> sizes;
  if (format.blocks().empty())
    for (const Extent& extent : tensor.var.dims()) sizes.push_back(extent.value());
  Coordinates mine =
      read_part(transport(), path, {.type = tensor.var.type(), .dims = std::nullopt, .sizes = sizes, .format = format});
  squeeze(mine, format.order());
  // Of blocks a vector is stored with two dimensions, and may come as a matrix of one column.
  bool as_matrix = file_format_of(path).matrices && !is_in_blocks(format, mine.dims());
  if (!format.blocks().empty() && (mine.order() != format.order() || as_matrix)) squeeze(mine, format.blocks().size());
  if (mine.order() != format.order() && !is_ordinary(format, mine.order()))
    throw UserError(fmt::format("{}: the tensor has order {}, its format '{}' order {}", path, mine.order(),
                                format.str(), format.order()),
                    "a format has one level for each dimension");
  return mine;
}

void fill_pieces(TensorState& tensor, const std::function<void(Home& home)>& fill) {
  waiting().before_change(tensor);
  waiting().replaced(tensor);
  auto what = [&] { return described(tensor.var); };
  memory::Purpose purpose(what);
  const Shares& shares = shares_of(tensor);  // of sizes that changed, drops what was there
  if (tensor.home && tensor.home->is_borrowed()) tensor.home.reset();
  std::optional<Home> fresh;
  if (!tensor.home)
    fresh = pack(transport(), Coordinates(notation::known_dims(tensor.var), tensor.var.type()), tensor.var.format(),
                 shares);
  Home& home = fresh ? *fresh : *tensor.home;
  try {
    runtime::together(transport(), [&] { fill(home); });
  } catch (...) {
    tensor.home.reset();  // some of it is filled
    throw;
  }
  set_home(tensor, std::move(home));
}

const Home& data_here(const TensorState& tensor) {
  if (waiting().gives(tensor))
    throw UserError(fmt::format("{} waits to be computed, which takes all ranks", shown(tensor.var)),
                    "call compute() on every rank first, or ask for gather(), which computes");
  return home_of(tensor);
}

}  // namespace spdistal
