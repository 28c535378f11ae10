#include "src/passes/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/ops/interpreter.h"
#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

// A table that is the last product's weights too, two products of one constant, a norm inside.
const std::string kBefore =
    "input %ids : i32[tokens]\n"
    "const %table : f32[32, 16] = file(0, 0, f32[32, 16])\n"
    "const %w : f32[16, 16] = file(0, 4096, f32[16, 16])\n"
    "const %g : f32[16] = file(0, 8192, f32[1, 16])\n"
    "%x : f32[tokens, 16] = embedding(%table, %ids) {scale=1.0}\n"
    "%a : f32[tokens, 16] = linear(%x, %w, _)\n"
    "%b : f32[tokens, 16] = fused_linear(%a, %w, _, %g, _, %x) "
    "{activation=\"none\", gated=false, norm=\"rms\", eps=1e-06}\n"
    "%logits : f32[tokens, 32] = linear(%b, %table, _)\n"
    "output logits = %logits\n";

TEST(Precision, ProductsAreConvertedTablesAreKept) {
  Graph graph = GraphFromText(kBefore);
  const Result<PrecisionReport> report = QuantizeProducts(graph, DType::kInt8);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->products, 2);
  ASSERT_EQ(report->kept.size(), 1u);
  EXPECT_EQ(report->kept[0].node, "logits");
  EXPECT_EQ(report->kept[0].reason, "embedding reads its weights too");
  const double converted = 2 * 16 * 16, kept = 32 * 16;
  EXPECT_NEAR(report->share, converted / (converted + kept), 0.02);
  const std::string text = ToText(graph);
  EXPECT_THAT(text, testing::HasSubstr("const %w.int8 : int8[16, 16] = cast(file(0, 4096, "
                                       "f32[16, 16]), int8)\n"));
  EXPECT_THAT(text, testing::HasSubstr("linear(%x, %w.int8, _)"));
  EXPECT_THAT(text, testing::HasSubstr("linear(%b, %table, _)"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("%w :")));
}

TEST(Precision, AMatrixThatIsNoConstantIsKept) {
  Graph graph = GraphFromText(
      "input %x : f32[tokens, 16]\n"
      "input %w : f32[16, 16]\n"
      "%y : f32[tokens, 16] = linear(%x, %w, _)\n"
      "output y = %y\n");
  const Result<PrecisionReport> report = QuantizeProducts(graph, DType::kInt7);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->products, 0);
  EXPECT_EQ(report->kept.at(0).reason, "its weights are no constant");
  EXPECT_EQ(report->share, 0);
}

// The reference of the new graph is near that of the old one, and not the same.
TEST(Precision, ResultsMoveByTheRoundingOnly) {
  const std::string text =
      "input %x : f32[4, 64]\n"
      "const %w : f32[8, 64] = file(0, 0, f32[8, 64])\n"
      "%y : f32[4, 8] = linear(%x, %w, _)\n"
      "output y = %y\n";
  std::string weights(8 * 64 * 4, '\0');
  for (int i = 0; i < 8 * 64; ++i) {
    const float w = static_cast<float>(i * 37 % 101) / 50 - 1;
    std::memcpy(weights.data() + i * 4, &w, 4);
  }
  const auto source = [&](int, uint64_t offset, uint64_t bytes) -> Result<std::string_view> {
    return std::string_view(weights).substr(offset, bytes);
  };
  InterpreterInputs inputs;
  RefTensor& x = inputs.tensors["x"];
  x.shape = {4, 64};
  for (int i = 0; i < 4 * 64; ++i) x.data.push_back(i * 53 % 97 / 48.0 - 1);
  Graph graph = GraphFromText(text);
  const auto exact = InterpretOutputs(graph, inputs, source);
  ASSERT_TRUE(QuantizeProducts(graph, DType::kInt8).ok());
  const auto rounded = InterpretOutputs(graph, inputs, source);
  ASSERT_TRUE(exact.ok() && rounded.ok()) << rounded.status().message();
  double largest = 0;
  for (int i = 0; i < 4 * 8; ++i)
    largest = std::max(largest, std::abs(exact->at("y").data[i] - rounded->at("y").data[i]));
  EXPECT_GT(largest, 1e-4);
  EXPECT_LT(largest, 64 * (1.0 / 127));
}

}  // namespace
}  // namespace tboost
