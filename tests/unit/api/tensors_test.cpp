#include "api/tensors.hpp"

#include <gtest/gtest.h>

#include "api/state.hpp"

namespace spdistal {
namespace {

notation::TensorVar vector(const char* name) {
  return notation::TensorVar({Symbol(name), ScalarType::Float64, {Extent(3)}, Format({Dense})});
}

TEST(Tensors, AreFoundWhileTheyExist) {
  auto all = std::make_shared<Tensors>();
  std::shared_ptr<TensorState> a = all->make(vector("a")), b = all->make(vector("a"));
  EXPECT_EQ(all->find(a->var), a);
  EXPECT_EQ(all->find(b->var), b) << "names may be the same, tensors are not";
  notation::TensorVar gone = b->var;
  b.reset();
  EXPECT_EQ(all->find(gone), nullptr);
  EXPECT_EQ(all->size(), 1u);
}

TEST(Tensors, OfOneObjectAreNotThoseOfAnother) {
  auto some = std::make_shared<Tensors>(), others = std::make_shared<Tensors>();
  std::shared_ptr<TensorState> a = some->make(vector("a"));
  EXPECT_EQ(others->find(a->var), nullptr);
}

TEST(Tensors, MayOutliveWhoMadeTheObject) {
  std::shared_ptr<TensorState> a = std::make_shared<Tensors>()->make(vector("a"));
  EXPECT_EQ(a->among->find(a->var), a);
}

}  // namespace
}  // namespace spdistal
