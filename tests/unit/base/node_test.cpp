// Trees as values, on a small family of its own that has every kind of member: handles, vectors, optionals, records.
#include "base/node.hpp"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

namespace spdistal {
namespace {

struct TreeKinds;
using Tree = Handle<TreeKinds>;

struct Leaf {
  int value;
  static constexpr auto fields = std::tuple{&Leaf::value};
};
struct Neg {
  Tree a;
  static constexpr auto fields = std::tuple{&Neg::a};
};
struct Add {
  Tree a, b;
  static constexpr auto fields = std::tuple{&Add::a, &Add::b};
};
struct Labelled {  // a record inside a node
  std::string label;
  Tree tree;
  static constexpr auto fields = std::tuple{&Labelled::label, &Labelled::tree};
};
struct Block {
  std::vector<Labelled> items;
  std::optional<Tree> last;
  static constexpr auto fields = std::tuple{&Block::items, &Block::last};
};
struct TreeKinds : Kinds<Leaf, Neg, Add, Block> {};

Tree leaf(int value) { return Leaf{value}; }
int sum(const Tree& tree) {
  int total = 0;
  each<Leaf>(tree, [&](const Leaf& n) { total += n.value; });
  return total;
}

TEST(Nodes, MatchCallsTheCaseOfTheNodesKind) {
  auto name = [](const Tree& tree) {
    return match(
        tree, [](const Leaf&) { return "leaf"; }, [](const Neg&) { return "neg"; }, [](const Add&) { return "add"; },
        [](const Block&) { return "block"; });
  };
  EXPECT_STREQ(name(leaf(1)), "leaf");
  EXPECT_STREQ(name(Neg{leaf(1)}), "neg");
  EXPECT_STREQ(name(Add{leaf(1), leaf(2)}), "add");
  EXPECT_STREQ(name(Block{{}, std::nullopt}), "block");
}

TEST(Nodes, AsAndIsAskForAKind) {
  Tree tree = Neg{leaf(3)};
  EXPECT_TRUE(tree.is<Neg>());
  EXPECT_FALSE(tree.is<Add>());
  EXPECT_EQ(tree.as<Add>(), nullptr);
  ASSERT_NE(tree.as<Neg>(), nullptr);
  EXPECT_EQ(tree.as<Neg>()->a.as<Leaf>()->value, 3);
}

TEST(Nodes, ChildrenAreFoundInsideVectorsOptionalsAndRecordsInOrder) {
  Tree block = Block{{{"x", leaf(1)}, {"y", leaf(2)}}, leaf(3)};
  std::vector<int> seen;
  children(block, [&](const Tree& child) { seen.push_back(child.as<Leaf>()->value); });
  EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

TEST(Nodes, EachVisitsFromTheRootDown) {
  Tree tree = Add{Neg{leaf(1)}, Block{{{"x", Add{leaf(2), leaf(3)}}}, leaf(4)}};
  EXPECT_EQ(sum(tree), 10);
  size_t adds = 0;
  each<Add>(tree, [&](const Add&) { adds++; });
  EXPECT_EQ(adds, 2u);
}

TEST(Nodes, RewriteChangesEveryNodeOfARulesKindFromTheLeavesUp) {
  Tree tree = Add{leaf(1), Block{{{"x", leaf(2)}}, Neg{leaf(3)}}};
  Tree doubled = rewrite(tree, [](const Leaf& n) -> Tree { return Leaf{2 * n.value}; });
  EXPECT_EQ(sum(doubled), 12);
  EXPECT_EQ(sum(tree), 6) << "the old tree stays as it was";
  Tree without_neg = rewrite(tree, [](const Neg& n) -> Tree { return n.a; });
  EXPECT_EQ(without_neg, (Tree(Add{leaf(1), Block{{{"x", leaf(2)}}, leaf(3)}})));
}

TEST(Nodes, RewriteGivesBackTheVerySameTreeWhereNothingChanges) {
  Tree tree = Add{leaf(1), Block{{{"x", leaf(2)}}, std::nullopt}};
  EXPECT_TRUE(rewrite(tree, [](const Neg& n) -> Tree { return n.a; }).same_as(tree));
  EXPECT_TRUE(map_children(tree, [](const Tree& child) { return child; }).same_as(tree));
}

TEST(Nodes, RewriteKeepsThePartsThatDoNotChange) {
  Tree left = Add{leaf(1), leaf(2)}, right = Neg{leaf(3)};
  Tree changed = rewrite(Tree(Add{left, right}), [](const Neg& n) -> Tree { return n.a; });
  EXPECT_TRUE(changed.as<Add>()->a.same_as(left));
}

TEST(Nodes, EqualityIsOfStructureNotOfIdentity) {
  auto make = [](int last, const std::string& label) { return Tree(Block{{{label, leaf(1)}}, leaf(last)}); };
  EXPECT_EQ(make(2, "x"), make(2, "x"));
  EXPECT_FALSE(make(2, "x").same_as(make(2, "x")));
  EXPECT_NE(make(2, "x"), make(3, "x"));
  EXPECT_NE(make(2, "x"), make(2, "y"));
  EXPECT_NE(make(2, "x"), Tree(Block{{{"x", leaf(1)}}, std::nullopt}));
  EXPECT_NE(Tree(Block{{}, std::nullopt}), Tree(Block{{{"x", leaf(1)}}, std::nullopt}));
  EXPECT_NE(leaf(1), Tree(Neg{leaf(1)}));
}

TEST(Nodes, EqualTreesHashAlikeAndDifferentOnesHardlyEver) {
  std::unordered_set<Tree> trees;
  std::set<size_t> hashes;
  for (int round = 0; round < 2; round++)
    for (int a = 0; a < 30; a++)
      for (int b = 0; b < 30; b++) {
        Tree tree = Add{leaf(a), Block{{{"x", leaf(b)}}, a % 2 ? std::optional(leaf(a + b)) : std::nullopt}};
        trees.insert(tree);
        hashes.insert(std::hash<Tree>{}(tree));
      }
  EXPECT_EQ(trees.size(), 900u);
  EXPECT_GT(hashes.size(), 890u);
}

TEST(Nodes, TheOrderOfPartsCountsInAHash) {
  std::hash<Tree> hash;
  EXPECT_NE(hash(Add{leaf(1), leaf(2)}), hash(Add{leaf(2), leaf(1)}));
  EXPECT_NE(hash(Neg{leaf(1)}), hash(leaf(1)));
}

// A match without a case for some kind does not compile: the helper that says so tells the two apart.
static_assert(detail::Record<Leaf> && detail::Record<Labelled> && !detail::Record<std::string>);
template <class... F>
constexpr bool covers = detail::exhaustive<detail::Overloaded<F...>, std::variant<Leaf, Neg>>;
struct OnLeaf {
  void operator()(const Leaf&) const {}
};
struct OnNeg {
  void operator()(const Neg&) const {}
};
static_assert(covers<OnLeaf, OnNeg>);
static_assert(!covers<OnLeaf>);
static_assert(!std::is_default_constructible_v<Tree>, "there is no null tree");

}  // namespace
}  // namespace spdistal
