// Statements that were said and not computed yet: a program means what it would mean if each were computed when it is said.
//
// A statement waits, because its schedule is said after it. It *takes its turn* when it is said, or, where a tensor that it
// reads has no data yet, when that has come; so do those after it that it stands in the way of. One rule says when those
// that took their turn are computed: before a tensor is looked at, those that give its value; before a tensor is changed,
// those that read it; before any of these, those that it takes by the same rule; all in the order of their turns. What
// nobody can look at any more, being overwritten or out of reach, is not computed at all.
//
// What fails, fails for its result: whoever looks at that, or at what is computed from it, is told. Others go on.
//
// Always holds: the lists are the same on every rank, for they depend on nothing but what the program says.
#pragma once
#include <memory>
#include <span>
#include <vector>

namespace spdistal {

struct StatementState;
struct TensorState;

class Waiting : public std::enable_shared_from_this<Waiting> {
 public:
  /// Makes a statement the current one of its result. Computes old ones where very many wait, and is collective then. Throws
  /// UserError where very many lack data.
  void say(TensorState& result, const std::shared_ptr<StatementState>& statement);

  /// Collective. Computes what the value of a tensor takes. Throws UserError where that waits for data.
  void before_look(TensorState& tensor);
  /// Collective. The same as far as there is data.
  void finish(TensorState& tensor);
  /// Collective. Computes what reads a tensor that is going to have other data.
  void before_change(TensorState& tensor);
  /// Local. The tensor has other data than statements give it: those no longer wait.
  void replaced(TensorState& tensor);

  /// Collective. Computes the current statement of a tensor: for the first time, in its turn, where it waits; else again,
  /// from operands as they are now. Throws what goes wrong.
  void compute(TensorState& tensor);
  /// Collective. Computes what the current statement of a tensor takes, and prepares the statement itself.
  void compile(TensorState& tensor);

  /// Local. Does a statement wait that writes this tensor?
  bool gives(const TensorState& tensor) const;
  /// Local. Nobody has a handle of this tensor any more.
  void release(std::shared_ptr<TensorState> tensor);
  /// Local. Nothing waits any more.
  void clear();

 private:
  struct Said {
    std::shared_ptr<StatementState> statement;
    std::weak_ptr<TensorState> result;  // where it is gone nobody can look

    bool writes(const TensorState& tensor) const { return result.lock().get() == &tensor; }
    bool reads(const TensorState& tensor) const;
  };
  using List = std::vector<Said>;
  using Tensors = std::vector<const TensorState*>;

  bool nothing_waits() const { return in_turn_.empty() && for_data_.empty(); }
  bool has_data(const TensorState& tensor) const;
  bool stands_in_the_way(std::span<const Said> earlier, const Said& said) const;
  bool is_ready(const Said& said, std::span<const Said> earlier) const;
  void take_turn(Said said);
  void settle();
  void forget_unseen();
  void forget_circles();
  void refuse_without_data(const TensorState& tensor) const;

  List take_needed(Tensors read, Tensors written, size_t before);
  void take_operands(const TensorState& result, const StatementState& statement, size_t turn, Tensors written);
  void run(const List& needed);

  List in_turn_, for_data_;
};

/// The one of the session of this process.
Waiting& waiting();

}  // namespace spdistal
