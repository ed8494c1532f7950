// What is a plan, and what is none.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "lower/distribute.hpp"
#include "support/placed_program.hpp"

namespace spdistal::plan {
namespace {

Plan plan_of(const char* schedule, const char* statement = "A(i,j) = B(i,k) * C(k,j)") {
  test::PlacedText text{.statement = statement,
                        .formats = "B:ds",
                        .sizes = {{"i", 6}, {"j", 5}, {"k", 7}},
                        .machine = "2x2",
                        .schedule = schedule};
  return lower::distribute(test::parse_placed(text).statement);
}

const char* rows = "divide(i,io,ii,2); distribute(io); communicate({A,B,C},io)";
const char* batches =
    "divide(i,io,ii,2); divide(j,jo,ji,2); reorder(io,jo,ii,k,ji); distribute(io); communicate({B},io); "
    "communicate({A,C},jo)";

std::string shown(const std::vector<Action>& actions) {
  std::string out;
  for (const Action& action : actions)
    out += (out.empty() ? "" : " ") + match(
                                          action,
                                          [](const MakePartition& n) { return "partition" + std::to_string(n.access); },
                                          [](const FetchPieces& n) { return "fetch" + std::to_string(n.access); },
                                          [](const LaunchLeaf&) { return std::string("launch"); },
                                          [](const TakeHome&) { return std::string("home"); },
                                          [](const ForSteps& n) { return "(" + shown(n.actions) + ")"; });
  return out;
}

std::string refusal(Plan plan, std::vector<Action> actions) {
  plan.actions = std::move(actions);
  Result<> legal = verify(plan);
  return legal ? "" : legal.refusal().message;
}

TEST(Actions, AreInTheOrderInWhichTheyHappen) {
  EXPECT_EQ(shown(plan_of(rows).actions), "partition1 fetch1 partition2 fetch2 partition0 launch home");
}

TEST(Actions, OfWhatStepsCutAreInsideOfThem) {
  EXPECT_EQ(shown(plan_of(batches).actions), "partition1 fetch1 (partition2 fetch2 partition0 launch home)");
  EXPECT_EQ(shown(plan_of("divide(k,ko,ki,2); divide(i,io,ii,2); reorder(io,ko,ii,ki,j); distribute(io); "
                          "communicate({A},io); communicate({B,C},ko)")
                      .actions),
            "partition0 (partition1 fetch1 partition2 fetch2 launch) home");
}

TEST(Verify, TakesPlansOfScheduledStatements) {
  for (const char* schedule : {rows, batches, ""}) EXPECT_TRUE(verify(plan_of(schedule))) << schedule;
}

TEST(Verify, RefusesActionsThatAreNotThereOrTooLate) {
  Plan plan = plan_of(rows);
  MakePartition p0{0}, p1{1}, p2{2};
  FetchPieces f1{1}, f2{2};
  EXPECT_EQ(refusal(plan, {p1, f1, p2, p0, LaunchLeaf{}, TakeHome{}}), "C(k,j) is not there when the leaf runs");
  EXPECT_EQ(refusal(plan, {p1, f1, p2, f2, LaunchLeaf{}, TakeHome{}}), "A(i,j) is not there when the leaf runs");
  EXPECT_EQ(refusal(plan, {f1, p1, p2, f2, p0, LaunchLeaf{}, TakeHome{}}),
            "B(i,k) is brought before it is partitioned");
  EXPECT_EQ(refusal(plan, {p1, p2, f1, f2, p0, LaunchLeaf{}, TakeHome{}}),
            "C(k,j) is gathered by B(i,k), which is not there yet");
  EXPECT_EQ(refusal(plan, {p1, f1, p1, p2, f2, p0, LaunchLeaf{}, TakeHome{}}), "B(i,k) is partitioned twice");
  EXPECT_EQ(refusal(plan, {p1, f1, p2, f2, p0, TakeHome{}, LaunchLeaf{}}), "a result goes home before it is there");
  EXPECT_EQ(refusal(plan, {p1, f1, p2, f2, p0, LaunchLeaf{}}), "a result goes home once, not 0 times");
  EXPECT_EQ(refusal(plan, {p1, f1, p2, f2, p0, TakeHome{}}), "a result goes home before it is there");
  EXPECT_EQ(refusal(plan, {p1, f1, p2, f2, p0, LaunchLeaf{}, LaunchLeaf{}, TakeHome{}}),
            "a plan has one launch, not 2");
  EXPECT_EQ(refusal(plan, {p1, FetchPieces{0}, p2, f2, p0, LaunchLeaf{}, TakeHome{}}), "what is fetched is an operand");
  EXPECT_EQ(refusal(plan, {MakePartition{3}}), "an action names an access that there is");
}

TEST(Verify, RefusesWhatIsCutByStepsThatAreNotAroundIt) {
  Plan plan = plan_of(batches);
  std::vector<Action> flat{MakePartition{1}, FetchPieces{1}, MakePartition{2}};
  EXPECT_EQ(refusal(plan, flat), "C(k,j) is cut by steps that are not around it");
  EXPECT_EQ(refusal(plan, {ForSteps{0, {}}}), "steps are those of a loop that is not distributed");
}

TEST(Verify, RefusesStatementsThatUseWhatIsNotThere) {
  Plan plan = plan_of(rows);
  plan.accesses[1].partitions.erase(plan.accesses[1].partitions.begin() + 2);
  EXPECT_EQ(verify(plan).refusal().message, "B(i,k): a partition is used before it is there");
  plan = plan_of(rows);
  plan.accesses[1].partitions.pop_back();
  EXPECT_EQ(verify(plan).refusal().message, "B(i,k): the values are not partitioned");
}

}  // namespace
}  // namespace spdistal::plan
