// Sparse results: pieces are assembled, and stay where they are or are merged by coordinate at their owners. What a result stores
// depends on what its operands store and on nothing else: while these patterns stand, runs after the first compute values.
#pragma once
#include "execute/move/sparse_homecoming.hpp"
#include "execute/move/taken_over.hpp"
#include "execute/result/bound_result.hpp"

namespace spdistal {

class SparseResult final : public BoundResult {
 public:
  /// Collective.
  explicit SparseResult(Binding& binding);

  void begin(PlanRun& run) override;
  void launch(PlanRun& run) override;
  void take_home(PlanRun& run) override;
  plan::Returns returns() const override;
  const Shares& home_shares() const override;

 private:
  /// Its pieces are those of its home; they become its home, as blocks of coordinates or with the positions of an operand; they
  /// are merged there.
  enum class Way : uint8_t { Stays, Settles, TakesOver, Moves };
  Way choose_way();
  bool matches(const Shares& shares);
  std::vector<size_t> dense_rows() const;
  bool cuts_dense_rows(const Shares& shares) const;
  bool is_cut_by_weight() const;
  bool matches_positions() const;
  bool follows_operand() const;

  std::vector<Storage> compute_pieces();
  void compute_again(Home& result);
  void compute_elements(const PlanRun& run);
  Home merged(Coordinates elements);
  Home leave_pieces(std::vector<Storage> made);
  void move_values(std::vector<Storage>& made, Home& result);
  bool moves_values() const;
  bool at_once() const;
  void keep(std::optional<Home>& result, Home fresh);

  Binding& binding_;
  std::optional<Shares> settled_;  // the home of one that stays where blocks of it were computed
  Way way_;
  std::optional<TakenOver> taken_over_;
  std::optional<SparseHomecoming> values_home_;
  uint64_t made_ = 0;  // the pattern that the last run made from these operands
  // Of the run on its way:
  bool stands_ = false;               // does the home store what the last run found?
  std::vector<Storage> pieces_;       // as they were computed
  std::optional<Coordinates> found_;  // their elements, where these are to be merged
};

}  // namespace spdistal
