// What the handles of the public face point to.
#pragma once
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/tensors.hpp"
#include "compile/described.hpp"
#include "execute/execute.hpp"
#include "notation/concrete.hpp"
#include "notation/print.hpp"
#include "spdistal/expression.hpp"
#include "spdistal/schedule.hpp"
#include "spdistal/tensor.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/home.hpp"

namespace spdistal {

struct Rows;
enum class Loan : uint8_t;
struct TensorState;

struct StatementState : ScheduledStatement {
  std::vector<Scalar> arguments = {};                       // numbers of the host
  std::vector<std::shared_ptr<TensorState>> operands = {};  // kept alive; the result itself is not among them
  bool reads_result = false;                                // what its result held before, or adds to that
  /// What runs it; null until it is first compiled. Statements that say the same of the same tensors share it, so that a loop
  /// that says a statement anew in every turn finds its plan.
  std::shared_ptr<Execution> execution = nullptr;
};

/// How entries that wait for pack came: the same on every rank, or each rank its part; bits, so that ranks and calls that
/// differ show as both.
enum class Inserted : uint8_t { Nothing = 0, Alike = 1, Parts = 2, Both = 3 };

class Waiting;

struct TensorState : std::enable_shared_from_this<TensorState> {
  TensorState(notation::TensorVar tensor, std::shared_ptr<Tensors> all)
      : var(std::move(tensor)), among(std::move(all)) {}
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;
  ~TensorState();

  notation::TensorVar var;
  std::shared_ptr<Tensors> among;                                     // which it belongs to
  std::shared_ptr<StatementState> current = nullptr;                  // the statement that was assigned last
  std::optional<Home> home = {};                                      // the contents
  std::vector<int64_t> ordinary = {};                                 // of blocks: the sizes of what they are cut from
  std::optional<Coordinates> inserted = {};                           // entries that wait for pack,
  Inserted inserted_by = Inserted::Nothing;                           // and how they came
  std::optional<Shares> shares = {};                                  // where it lives,
  std::vector<int64_t> shares_for = {};                               // being of these sizes
  std::map<std::string, std::shared_ptr<Execution>> executions = {};  // by what statements say
  /// All of it on this rank, as asked for last.
  std::optional<Storage> whole = {};
  uint64_t whole_version = 0;
  std::exception_ptr failure = nullptr;  // why there is nothing to look at: the statement that was to give it failed
  std::weak_ptr<Waiting> waiting = {};   // where its statements wait, if it ever had one
  bool released = false;                 // nobody has a handle of it; statements may still read it
};

/// What a handle points to.
TensorState& state_of(const TensorBase& tensor);
/// A new tensor.
TensorBase make_tensor(std::string name, std::vector<Extent> extents, Format format, ScalarType type);

/// Makes a statement of tensors that exist. Throws UserError.
StatementState say(const notation::Assignment& assignment);

/// Sizes that were open are bound to those of data, others must agree. Throws UserError.
void set_sizes(TensorState& tensor, const std::vector<int64_t>& dims);
/// Gives a tensor data in the place of what statements give it; its sizes are set. What reads the old data was computed.
void set_home(TensorState& tensor, Home home);
/// Collective. The same of a tensor whose entries are anywhere, each rank having some; their sizes become the tensor's.
void set_entries(TensorState& tensor, Coordinates mine);
/// Collective. Makes what was inserted the contents. Throws UserError, on every rank, where ranks do not mean the same.
void pack_inserted(TensorState& tensor);
/// Collective. Rows that the ranks have alike, or each its own, become its contents; those of each rank may be used in place.
void set_rows(TensorState& tensor, const Rows& rows, Inserted how, Loan loan);
/// Collective. This rank's part of a file, of the order and type of the tensor. Throws UserError.
Coordinates read_entries(const TensorState& tensor, const std::string& path);
/// Collective. Writes a file. Of a tensor of blocks, files that hold entries get those of the ordinary tensor.
void write_contents(TensorState& tensor, const std::string& path);
/// Collective. Sets all elements of a dense tensor of known sizes, every rank those of its own pieces; `fill`, which
/// says that they changed, calls nothing collective. Pieces that are there keep their memory and pattern.
void fill_pieces(TensorState& tensor, const std::function<void(Home& home)>& fill);
/// Where the tensor lives, of known sizes.
const Shares& shares_of(TensorState& tensor);
/// Collective. The data of a tensor, after all that was said. Throws UserError where there is none.
const Home& data_of(TensorState& tensor);
/// Local. The data of a tensor as it is, whatever waits to change it. Throws where there is none.
const Home& home_of(const TensorState& tensor);
/// Local. The same of what was computed already. Throws UserError where a statement waits: computing it takes all ranks.
const Home& data_here(const TensorState& tensor);
/// Collective. All of it, on every rank: for comparing with an independent evaluation (`--check`), and nothing else. What
/// a user asks to have whole is `gather`.
const Storage& whole_of(TensorState& tensor);
/// The statement that was said last of a tensor. Throws UserError where there is none.
std::shared_ptr<StatementState> current_statement(const TensorState& tensor);
/// Are all sizes of a tensor known?
bool has_sizes(const notation::TensorVar& tensor);
/// Collective. Prepares the kernel of a statement for its operands as they are.
void prepare(TensorState& result, StatementState& statement);
/// Collective. Computes a statement from its operands as they are.
void run(TensorState& result, StatementState& statement);
/// Collective. Tries schedules for the statement that was said last of a tensor, and gives it the fastest.
Tuned tune(TensorState& result, const TuneOptions& options);
/// Collective. The same of a statement that waits for nothing.
Tuned tune(TensorState& result, StatementState& statement, const TuneOptions& options);

}  // namespace spdistal
