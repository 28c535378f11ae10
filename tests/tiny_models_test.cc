// Every architecture at a small size against its golden: at every level, without each pass, in
// other types of weights.
#include "src/formats/test_bytes.h"
#include "src/passes/pipeline.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

class TinyModels : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    folder_ = std::make_unique<TemporaryFolder>();
    WriteTinyModel(GetParam(), folder_->path());
  }
  // The largest difference from the golden, all sequences in one step.
  double Difference(const CompileOptions& options) {
    TestModel model(*runtime_, folder_->path(), options);
    return LargestDifference(model.Run(golden_.sequences, golden_.output).values,
                             golden_.expected.values);
  }

  // The oracle itself is up to 2e-5 from float64 (tests/golden/README.md).
  static constexpr double kTolerance = 1e-4;
  std::unique_ptr<Runtime> runtime_ = MakeRuntime();
  TinyGolden golden_{GetParam()};
  std::unique_ptr<TemporaryFolder> folder_;
};

TEST_P(TinyModels, WeightsAreTheOracles) {
  const Json golden = GoldenJson(fmt::format("tiny/{}/golden.json", GetParam()));
  const Json& probe = golden.at("probe");
  const std::string name = probe.at("tensor");
  const Json& entry = golden.at("tensors").at(name);
  const std::string bytes =
      TinyTensor(name, Shape{entry.at(0).at(0), entry.at(0).at(1)}, entry.at(1), entry.at(2));
  for (size_t i = 0; i < probe.at("values").size(); ++i) {
    float value;
    std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
    EXPECT_EQ(value, probe.at("values")[i].get<float>()) << i;
  }
}

TEST_P(TinyModels, EveryLevelGivesTheGolden) {
  for (int level = 0; level <= 3; ++level)
    EXPECT_LE(Difference({.optimization_level = level}), kTolerance) << "level " << level;
}

TEST_P(TinyModels, WithoutAnyOnePass) {
  for (const Pass* pass : AllPasses())
    EXPECT_LE(Difference({.disabled_passes = {std::string(pass->name)}}), kTolerance) << pass->name;
}

// Bounds are about ten times what the types' rounding gives, far below what a wrong layout would.
TEST_P(TinyModels, InLowerPrecision) {
  double largest = 0;
  for (float x : golden_.expected.values) largest = std::max<double>(largest, std::abs(x));
  for (const auto& [dtype, bound] : {std::pair(DType::kF16, 0.01), std::pair(DType::kBF16, 0.05),
                                     std::pair(DType::kInt8, 0.1), std::pair(DType::kInt7, 0.2)}) {
    const double difference = Difference({.dtype = dtype});
    EXPECT_LE(difference, bound * largest) << DTypeName(dtype);
    EXPECT_GT(difference, kTolerance / 10) << DTypeName(dtype) << ": nothing was rounded";
  }
}

TEST_P(TinyModels, AloneAsInABatch) {
  TestModel model(*runtime_, folder_->path());
  const Floats batch = model.Run(golden_.sequences, golden_.output);
  std::vector<float> alone;
  for (const Ids& ids : golden_.sequences) {
    const Floats one = model.Run({&ids, 1}, golden_.output);
    alone.insert(alone.end(), one.values.begin(), one.values.end());
  }
  EXPECT_EQ(alone, batch.values);
}

INSTANTIATE_TEST_SUITE_P(All, TinyModels, ::testing::ValuesIn(kTinyModels),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tboost
