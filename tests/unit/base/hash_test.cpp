// The hash against the values that the xxHash specification publishes.
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace spdistal {
namespace {

uint64_t hash_text(std::string_view text, uint64_t seed = 0) { return hash_bytes(text.data(), text.size(), seed); }

TEST(Hash, IsTheOneOfTheSpecification) {
  EXPECT_EQ(hash_text(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash_text("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash_text("abc"), 0x44BC2CF5AD770999u);
}

// The specification's bytes: of a generator of its own, hashed for the lengths that take every way through the function.
TEST(Hash, IsTheOneOfTheSpecificationForAllWaysThrough) {
  constexpr uint64_t prime32 = 2654435761u, prime64 = 11400714785074694797u;
  std::vector<std::byte> bytes(222);
  uint64_t generator = prime32;
  for (std::byte& b : bytes) {
    b = std::byte(generator >> 56);
    generator *= prime64;
  }
  auto of = [&](size_t count, uint64_t seed) { return hash_bytes(bytes.data(), count, seed); };
  EXPECT_EQ(of(0, prime32), 0xAC75FDA2929B17EFu);
  EXPECT_EQ(of(1, 0), 0xE934A84ADB052768u);
  EXPECT_EQ(of(1, prime32), 0x5014607643A9B4C3u);
  EXPECT_EQ(of(4, 0), 0x9136A0DCA57457EEu);
  EXPECT_EQ(of(14, 0), 0x8282DCC4994E35C8u);
  EXPECT_EQ(of(14, prime32), 0xC3BD6BF63DEB6DF0u);
  EXPECT_EQ(of(222, 0), 0xB641AE8CB691C174u);
  EXPECT_EQ(of(222, prime32), 0x20CB8AB7AE10C14Au);
}

TEST(Hasher, TellsApartWhatIsSaidAndInWhichOrder) {
  auto of = [](std::vector<uint64_t> words) {
    Hasher out;
    for (uint64_t word : words) out.word(word);
    return out.value();
  };
  EXPECT_EQ(of({1, 2}), of({1, 2}));
  EXPECT_NE(of({1, 2}), of({2, 1}));
  EXPECT_NE(of({1, 2}), of({1, 2, 0}));
}

TEST(LongHash, HasThirtyTwoDigits) {
  EXPECT_EQ(long_hash("kernel").size(), 32u);
  EXPECT_NE(long_hash("kernel"), long_hash("kerneL"));
}

}  // namespace
}  // namespace spdistal
