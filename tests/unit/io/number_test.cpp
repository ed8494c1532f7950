#include "io/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

namespace spdistal {
namespace {

template <class T>
T by_c(const char* text) {
  if constexpr (std::is_same_v<T, float>) return std::strtof(text, nullptr);
  else return std::strtod(text, nullptr);
}

template <class T>
void expect_as_c_reads(const std::string& text) {
  T expected = by_c<T>(text.c_str()), found = -77;
  const char* stop = read_real(text.data(), text.data() + text.size(), found);
  if (std::isinf(expected) && text.find("inf") == text.npos) {
    EXPECT_EQ(stop, nullptr) << text;
    return;
  }
  ASSERT_EQ(stop, text.data() + text.size()) << text;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  EXPECT_EQ(std::bit_cast<Bits>(found), std::bit_cast<Bits>(expected)) << text;
}

TEST(Numbers, AreReadAsCReadsThemToTheLastBit) {
  std::mt19937_64 random(1);
  auto digits = [&](size_t n) {
    std::string out;
    while (out.size() < n) out += char('0' + random() % 10);
    return out;
  };
  for (int trial = 0; trial < 200000; trial++) {
    std::string text = random() % 4 == 0 ? "-" : "";
    text += digits(random() % 12 + (trial % 2));
    bool whole = !text.empty() && text != "-";
    if (!whole || random() % 4) text += "." + digits(random() % 20 + !whole);
    if (random() % 3 == 0) text += "e" + std::to_string(int(random() % 80) - 40);
    if (random() % 50 == 0) text += random() % 2 ? "e300" : "E-320";
    if (text.find('e') != text.rfind('e') || (text.find('e') != text.npos && text.find('E') != text.npos)) continue;
    expect_as_c_reads<double>(text);
    expect_as_c_reads<float>(text);
  }
}

TEST(Numbers, RoundRightWhereTheyLieBetweenTwoFloats) {
  // Neighbours' midpoints written out in full, and a little to either side.
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20000; trial++) {
    float low = float(random() >> 40) * 0x1p-10f, high = std::nextafter(low, INFINITY);
    double middle = (double(low) + double(high)) / 2;
    char text[64];
    std::snprintf(text, sizeof text, "%.20g", middle);
    expect_as_c_reads<float>(text);
    std::snprintf(text, sizeof text, "%.20g", std::nextafter(middle, 0));
    expect_as_c_reads<float>(text);
    uint64_t odd = (uint64_t(1) << 53) + 2 * (random() >> 12) + 1;  // between two doubles
    expect_as_c_reads<double>(std::to_string(odd));
    expect_as_c_reads<double>(std::to_string(odd) + ".0");
    expect_as_c_reads<double>(std::to_string(odd) + "01e-2");
  }
}

TEST(Numbers, AreTheSameAgainAfterTheirShortestForm) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200000; trial++) {
    double value = std::bit_cast<double>(random()), found = 0;
    if (std::isnan(value)) continue;
    char text[64];
    char* end = std::to_chars(text, text + sizeof text, value).ptr;
    ASSERT_EQ(read_real(text, end, found), end);
    ASSERT_EQ(std::bit_cast<uint64_t>(found), std::bit_cast<uint64_t>(value));
  }
}

TEST(Numbers, AreToldFromWhatIsNone) {
  double real = 0;
  for (std::string text : {"", "+", "-", ".", "e5", "x", "+-1", "--1", "-.e1"})
    EXPECT_EQ(read_real(text.data(), text.data() + text.size(), real), nullptr) << text;
  int64_t integer = 0;
  for (std::string text : {"", "+", "-", "x", "+-1", "9223372036854775808"})
    EXPECT_EQ(read_integer(text.data(), text.data() + text.size(), integer), nullptr) << text;
  uint64_t index = 0;
  for (std::string text : {"", "-1", "x", "9223372036854775808", "99999999999999999999999999"})
    EXPECT_EQ(read_index(text.data(), text.data() + text.size(), index), nullptr) << text;
  std::string largest = "9223372036854775807", zeros = "0000000000000000000000001";
  EXPECT_EQ(read_index(largest.data(), largest.data() + largest.size(), index), largest.data() + largest.size());
  EXPECT_EQ(index, uint64_t(INT64_MAX));
  EXPECT_NE(read_index(zeros.data(), zeros.data() + zeros.size(), index), nullptr);
  EXPECT_EQ(index, 1u);
}

}  // namespace
}  // namespace spdistal
