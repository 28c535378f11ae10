// The passes as a whole: each small model means the same before and after them (reference
// interpreter, weights with outlier channels), and what had to be fused is.
#include <algorithm>
#include "src/formats/test_bytes.h"

#include "src/import/import_model.h"
#include "src/passes/pipeline.h"
#include "tests/model_testing.h"
#include "tests/reference.h"

namespace tboost {
namespace {

using namespace testing;

// Nodes that are work: not views.
int64_t Steps(const Graph& graph) {
  return std::ranges::count_if(graph.nodes(), [](const Node& n) { return !n.op->alias_columns; });
}

class Fusion : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Fusion, KeepsTheMeaning) {
  const TemporaryFolder folder;
  WriteTinyModel(GetParam(), folder.path());
  ImportedModel model = Must(ImportModel(folder.path(), {}));
  Must(model.graph.Compact());
  const TinyGolden golden(GetParam());
  const Meaning before = Interpret(model.graph, model.weights(), golden.sequences);
  EXPECT_LE(LargestDifference(before.outputs.at(golden.output).data, golden.expected.values), 1e-4);

  Graph graph = model.graph;
  Must(Optimize(graph));
  EXPECT_LT(Steps(graph) * 4, Steps(model.graph) * 3) << "little was fused";
  const Meaning after = Interpret(graph, model.weights(), golden.sequences);
  ASSERT_EQ(after.outputs.size(), before.outputs.size());
  for (const auto& [name, tensor] : before.outputs)
    EXPECT_LE(LargestDifference(after.outputs.at(name).data, tensor.data), 1e-9) << name;
  for (const auto& [name, cache] : before.caches)
    for (size_t s = 0; s < golden.sequences.size(); ++s) {
      EXPECT_LE(LargestDifference(after.caches.at(name).keys[s], cache.keys[s]), 1e-9) << name;
      EXPECT_LE(LargestDifference(after.caches.at(name).values[s], cache.values[s]), 1e-9) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Fusion, ::testing::ValuesIn(kTinyModels),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tboost
