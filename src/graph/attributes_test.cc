#include "src/graph/attributes.h"

#include <gtest/gtest.h>

#include "src/graph/toy_ops.h"

namespace tboost {
namespace {

TEST(Attributes, SetAndFind) {
  Attributes a;
  a.Set("b", int64_t{1});
  a.Set("a", 2.5);
  a.Set("b", true);
  ASSERT_NE(a.Find("b"), nullptr);
  EXPECT_EQ(std::get<bool>(*a.Find("b")), true);
  EXPECT_EQ(a.begin()->first, "a");
  EXPECT_EQ(a.Find("c"), nullptr);
  Attributes other;
  other.Set("a", 2.5);
  EXPECT_NE(a, other);
  other.Set("b", true);
  EXPECT_EQ(a, other);
}

TEST(Attributes, StructsReadBack) {
  EXPECT_TRUE(MakeAttributes(ToyAttributes{}).empty());
  ToyAttributes toy;
  toy.factor = 0.1;
  toy.mode = ToyMode::kFancy;
  toy.ids = {1, -2};
  const Attributes list = MakeAttributes(toy);
  EXPECT_EQ(list.end() - list.begin(), 3);
  EXPECT_EQ(std::get<std::string>(*list.Find("mode")), "fancy");
  const auto parsed = ParseAttributes<ToyAttributes>(list, "toy");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->factor, 0.1);
  EXPECT_EQ(parsed->mode, ToyMode::kFancy);
  EXPECT_EQ(parsed->ids, toy.ids);
  EXPECT_EQ(parsed->count, 0);
}

TEST(Attributes, IntegersServeAsReals) {
  Attributes a;
  a.Set("factor", int64_t{3});
  EXPECT_EQ(ParseAttributes<ToyAttributes>(a, "toy")->factor, 3);
  a.Set("count", 3.0);
  EXPECT_FALSE(ParseAttributes<ToyAttributes>(a, "toy").ok());
}

TEST(Attributes, ErrorsNameTheOperatorAndTheAttribute) {
  Attributes wrong, unknown, choice;
  wrong.Set("flag", int64_t{1});
  unknown.Set("facter", 1.0);
  choice.Set("mode", std::string("odd"));
  EXPECT_EQ(ParseAttributes<ToyAttributes>(wrong, "toy").status().message(),
            "[toy] attribute flag has a wrong type or value");
  EXPECT_EQ(ParseAttributes<ToyAttributes>(unknown, "toy").status().message(),
            "[toy] has no attribute facter");
  EXPECT_FALSE(ParseAttributes<ToyAttributes>(choice, "toy").ok());
}

TEST(Attributes, Describe) {
  const auto specs = DescribeAttributes<ToyAttributes>();
  ASSERT_EQ(specs.size(), 7u);
  EXPECT_EQ(specs[3].name, "mode");
  EXPECT_EQ(specs[3].choices, (std::vector<std::string>{"plain", "fancy"}));
  EXPECT_EQ(std::get<double>(specs[0].default_value), 1);
}

}  // namespace
}  // namespace tboost
