// What a sequence means: every statement is evaluated over dense arrays when it is said, or, where it lacks data, when that
// has come. Knows nothing of how the library waits, but for one question: whether `compute()` is a statement's first run,
// in which case it was evaluated already.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "notation/index_notation.hpp"
#include "reference/array.hpp"
#include "support/sequence.hpp"

namespace spdistal::test {

class Meaning {
 public:
  explicit Meaning(const Sequence& sequence);

  /// Whether the step is legal; one that is refused changes nothing.
  bool step(const Step& step);
  /// What a look shows; nothing where it is refused.
  std::optional<reference::DenseArray> look(const std::string& name) const;
  /// The largest absolute value of anything.
  double largest() const;
  /// Was the least or largest of values and of a tensor that holds nothing asked for? That is refused.
  bool reduces_with_nothing() const { return reduces_with_nothing_; }

 private:
  using Id = size_t;
  struct Statement {
    notation::Assignment assignment;
    Id result;
    std::vector<Id> read;  // the result too where it is read

    bool reads(Id id) const;
  };
  struct Cell {
    notation::TensorVar var;
    std::optional<reference::DenseArray> data = {};
    std::optional<size_t> current = {};  // of statements_
  };

  Id fresh(const SequenceTensor& tensor);
  size_t statement_of(const std::string& text);
  bool has_data(Id id) const { return cells_[id].data.has_value(); }
  bool blocks(size_t earlier_count, const Statement& statement) const;
  bool is_ready(const Statement& statement, size_t earlier_count) const;
  void evaluate(size_t statement);
  void take_turn(size_t statement);
  void settle();
  void say(size_t statement);
  bool compute(Id id);
  bool compile(Id id);
  void put(Id id, reference::DenseArray data);
  void need(std::vector<Id> read, std::vector<Id> written, size_t before);
  void overwrite(std::vector<size_t>& list, Id id);
  bool lacks(Id id) const;
  bool lacks_operands(const Statement& statement) const;

  const Sequence& sequence_;
  std::vector<Cell> cells_;
  std::map<std::string, Id> names_;
  std::vector<Statement> statements_;
  std::vector<size_t> for_data_;  // said, and not evaluated for lack of data
  std::vector<size_t> unseen_;    // evaluated, and nothing needed them yet
  bool reduces_with_nothing_ = false;
};

}  // namespace spdistal::test
