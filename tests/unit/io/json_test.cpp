#include "io/json.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

TEST(Json, HoldsEveryKindOfValue) {
  Result<Json> all = Json::parse(R"( {"a": [1, -2.5, 1e3, true, false, null], "b": {"c": "d"}, "e": [], "f": {}} )");
  ASSERT_TRUE(all);
  const Json::List& list = *all->find("a")->as<Json::List>();
  ASSERT_EQ(list.size(), 6u);
  EXPECT_EQ(*list[0].as<int64_t>(), 1);
  EXPECT_EQ(*list[1].as<double>(), -2.5);
  EXPECT_EQ(*list[2].as<double>(), 1000);
  EXPECT_TRUE(*list[3].as<bool>());
  EXPECT_FALSE(*list[4].as<bool>());
  EXPECT_TRUE(list[5].as<std::nullptr_t>());
  EXPECT_EQ(*all->find("b")->find("c")->as<std::string>(), "d");
  EXPECT_TRUE(all->find("e")->as<Json::List>()->empty());
  EXPECT_TRUE(all->find("f")->as<Json::Members>()->empty());
  EXPECT_EQ(all->find("g"), nullptr);
  EXPECT_EQ(list[0].find("a"), nullptr);
}

TEST(Json, ReadsCharactersByTheirNumbers) {
  Result<Json> text = Json::parse(R"("\"\\\/\n\u00e4\u20AC\ud83d\ude00")");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text->as<std::string>(), "\"\\/\n\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(Json, KeepsWholeNumbersOf64Bits) {
  EXPECT_EQ(*Json::parse("9223372036854775807")->as<int64_t>(), INT64_MAX);
  EXPECT_EQ(*Json::parse("9223372036854775808")->as<double>(), 9223372036854775808.0);
}

TEST(Json, IsRefusedWithThePlace) {
  auto said = [](std::string_view text) {
    Result<Json> json = Json::parse(text);
    return json ? "accepted" : json.refusal().message;
  };
  EXPECT_EQ(said(""), "expected a value, at character 1");
  EXPECT_EQ(said("[1, 2"), "expected ',' or ']', at character 6");
  EXPECT_EQ(said("[1 2]"), "expected ',' or ']', at character 4");
  EXPECT_EQ(said("{1: 2}"), "expected a name in quotes, at character 2");
  EXPECT_EQ(said(R"({"a" 2})"), "expected ':', at character 6");
  EXPECT_EQ(said(R"({"a": 2} x)"), "something follows its end, at character 10");
  EXPECT_EQ(said(R"("a)"), "a text does not end, at character 3");
  EXPECT_EQ(said(R"("\x")"), "expected a character after '\\', at character 3");
  EXPECT_EQ(said(R"("\ud83d")"), "expected a character after '\\', at character 8");
  EXPECT_EQ(said("1.2.3"), "expected a number, at character 1");
  EXPECT_EQ(said(std::string(200, '[')), "it goes too deep, at character 102");
}

}  // namespace
}  // namespace spdistal
