// Dense results: computed at home where colours share nothing, else in pieces of their own that are assigned or added up there.
// What needs nothing that is under way is computed meanwhile, chunk by chunk.
#pragma once
#include "execute/overlap.hpp"
#include "execute/result/bound_result.hpp"

namespace spdistal {

class DenseResult final : public BoundResult {
 public:
  /// Collective.
  explicit DenseResult(Binding& binding);

  void begin(PlanRun& run) override;
  void enter_step() override;
  void launch(PlanRun& run) override;
  void take_home(PlanRun& run) override;
  plan::Returns returns() const override;
  const Shares& home_shares() const override { return binding_.shares; }

 private:
  bool can_be_in_place() const;
  bool assigns() const;
  Storage& place_of(Home& result, int64_t colour);
  void fill(Home& result);
  void fill(Storage& piece, const DevicePlace& device);
  DevicePlace device(int64_t colour) const { return binding_.launcher.device(colour, binding_.colours()); }
  bool can_be_around_home() const;
  void prepare_homecoming(Home& result);

  void launch_all(PlanRun& run);
  bool has_chunks_to_poll();
  bool overlaps();
  void find_chunks();
  enum class When : uint8_t { Ready, Others };
  void launch_chunks(Home& result, When when);
  void launch_chunk(Storage& into, const LeafRun& wanted);

  Binding& binding_;
  bool in_place_;  // is it computed at home?
  std::optional<Homecoming> homecoming_;
  bool around_home_ = false;          // is any piece of it, on any rank, around one at home?
  std::optional<ReadyChunks> ready_;  // found at the second run
  // Of the run on its way:
  notation::Start start_ = notation::Start::Zero;  // of the next launch: later ones add to what is there
  bool begun_ = false;                             // is there at home what is added to?
};

}  // namespace spdistal
