#include "src/graph/matcher.h"

#include <gtest/gtest.h>

#include "src/graph/recipe_builders.h"
#include "src/graph/toy_ops.h"

namespace tboost {
namespace {

const ValueType kRow{ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), 4}};

struct MatcherTest : testing::Test {
  Graph g;
  ValueId x = g.AddInput("x", kRow), y = g.AddInput("y", kRow);
  ValueId w = g.AddConstant("w", {ValueType::Kind::kTensor, DType::kF32, {4, 4}},
                            *FileRecipe(0, 0, DType::kF32, 4, 4));
  ValueId product = *g.Add(toy::kProduct, "p", {x, w});
  NodeId Node(ValueId v) { return g.value(v).producer; }
};

TEST_F(MatcherTest, CapturesWhereItMatches) {
  const ValueId sum = *g.Add(toy::kAdd, "sum", {product, y});
  ValueId a = kNone, b = kNone, c = kNone;
  NodeId node = kNone;
  const Pattern pattern =
      Op("add", {Op("product", {Any(&a), Constant(&b)}).SingleUse().Capture(&node), Any(&c)});
  const MatchResult match = Match(g, Node(sum), pattern);
  EXPECT_TRUE(match) << match.mismatch;
  EXPECT_EQ(a, x);
  EXPECT_EQ(b, w);
  EXPECT_EQ(c, y);
  EXPECT_EQ(node, Node(product));
}

TEST_F(MatcherTest, CommutativeTriesBothOrders) {
  ValueId c = kNone;
  const auto pattern = [&c] { return Op("add", {Op("product", {Any(), Any()}), Any(&c)}); };
  const ValueId swapped = *g.Add(toy::kAdd, "sum", {y, product});
  EXPECT_EQ(Match(g, Node(swapped), pattern()).mismatch,
            "add: operand 0 is a graph input, expected product");
  EXPECT_TRUE(Match(g, Node(swapped), pattern().Commutative()));
  EXPECT_EQ(c, y);
}

TEST_F(MatcherTest, CommutativeReportsTheOrderThatWentFurthest) {
  const ValueId scaled = *g.Add(toy::kScale, "s", {product, kNone});
  const ValueId sum = *g.Add(toy::kAdd, "sum", {y, scaled});
  const Pattern pattern =
      Op("add", {Op("scale", {Op("product", {Constant(), Any()})}), Any()}).Commutative();
  EXPECT_EQ(Match(g, Node(sum), pattern).mismatch, "product: operand 0 is not a constant");
}

TEST_F(MatcherTest, SingleUse) {
  const ValueId scaled = *g.Add(toy::kScale, "s", {product, kNone});
  const auto matches = [&] {
    return Match(g, Node(scaled), Op("scale", {Op("product", {Any(), Any()}).SingleUse()}));
  };
  EXPECT_TRUE(matches());
  Graph before = g;
  (void)*g.Add(toy::kAdd, "again", {product, x});
  EXPECT_EQ(matches().mismatch, "scale: operand 0 is used by 2 nodes");
  g = before;
  g.MarkOutput("out", product);
  EXPECT_EQ(matches().mismatch, "scale: operand 0 is a graph output");
}

TEST_F(MatcherTest, OptionalOperands) {
  const ValueId bare = *g.Add(toy::kScale, "bare", {x, kNone});
  const ValueId gained = *g.Add(toy::kScale, "gained", {x, y});
  ValueId gain = 0;
  EXPECT_TRUE(Match(g, Node(bare), Op("scale", {Any(), Maybe(&gain)})));
  EXPECT_EQ(gain, kNone);
  EXPECT_TRUE(Match(g, Node(gained), Op("scale", {Any(), Maybe(&gain)})));
  EXPECT_EQ(gain, y);
  EXPECT_EQ(Match(g, Node(bare), Op("scale", {Any(), Any()})).mismatch,
            "scale: operand 1 is absent");
  EXPECT_EQ(Match(g, Node(gained), Op("scale", {Any()})).mismatch, "scale: operand 1 is present");
}

TEST_F(MatcherTest, SeveralOperatorsAndCandidates) {
  const ValueId sum = *g.Add(toy::kAdd, "sum", {product, y});
  const auto pattern = [] { return Op("sub|add", {Op("scale|product", {Any(), Any()}), Any()}); };
  EXPECT_TRUE(Match(g, Node(sum), pattern()));
  const MatchResult inputs = Match(g, Node(*g.Add(toy::kSub, "d", {x, y})), pattern());
  EXPECT_EQ(inputs.mismatch, "sub: operand 0 is a graph input, expected scale|product");
  EXPECT_FALSE(inputs.candidate);
  const MatchResult shared =
      Match(g, Node(sum), Op("add", {Op("product", {Constant(), Any()}), Any()}));
  EXPECT_FALSE(shared);
  EXPECT_TRUE(shared.candidate);
}

TEST_F(MatcherTest, PredicatesAndOutputs) {
  const Pattern wide = Op("scale", {Any().Where("is not wide", [](const Graph& graph, ValueId v) {
                            return graph.value(v).type.shape[1] == Dim(8);
                          })});
  EXPECT_EQ(Match(g, Node(*g.Add(toy::kScale, "s", {x, kNone})), wide).mismatch,
            "scale: operand 0 is not wide");
  const NodeId two = *g.AddNode(toy::kTwo, "two", {x}, {});
  const ValueId second = *g.Add(toy::kScale, "s", {g.node(two).outputs[1], kNone});
  EXPECT_EQ(Match(g, Node(second), Op("scale", {Op("two", {Any()})})).mismatch,
            "scale: operand 0 is output 1 of two");
  EXPECT_EQ(Match(g, Node(second), Op("add", {})).mismatch, "is scale, expected add");
}

}  // namespace
}  // namespace tboost
