#include "src/compile/compile.h"

#include "src/base/cpu_features.h"
#include "src/formats/test_bytes.h"
#include "src/ops/ops.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

class CompileTest : public ::testing::Test {
 protected:
  void SetUp() override { WriteTinyModel("llama_tied", folder_ / "llama"); }
  Result<Json> Compile(const CompileOptions& options) {
    return CompileToFile(folder_ / "llama", folder_ / "m.om", options);
  }
  TemporaryFolder folder_;
};

TEST_F(CompileTest, TheManifestSaysWhatIsInIt) {
  const Json report = Must(Compile({.dtype = DType::kBF16, .max_context = 100}));
  const auto om = Must(LoadOmModel(Must(OmReader::Open(folder_ / "m.om")), BuiltinOps(), "m.om"));
  EXPECT_EQ(om->manifest, report);
  EXPECT_EQ(om->manifest.at("context_length"), 100);
  EXPECT_EQ(om->manifest.at("options").at("dtype"), "bf16");
  EXPECT_EQ(om->manifest.at("vocab_size"), 160);
  EXPECT_TRUE(om->tokenizer.empty()) << "the folder has none";
  EXPECT_TRUE(om->reader.Verify().ok());
  for (const Value& value : om->program.graph.values()) {
    if (!value.constant || value.type.shape.size() != 2) continue;
    EXPECT_EQ(value.type.dtype, DType::kBF16) << value.name;
  }
}

TEST_F(CompileTest, Int8ConvertsProductsAndReportsThem) {
  const Json manifest = Must(Compile({.dtype = DType::kInt7}));
  const auto om = Must(LoadOmModel(Must(OmReader::Open(folder_ / "m.om")), BuiltinOps(), "m.om"));
  const Json& precision = manifest.at("report").at("precision");
  EXPECT_EQ(precision.at("format"), "int7");
  EXPECT_EQ(precision.at("largest_code"), 63);
  EXPECT_EQ(precision.at("kept").size(), 1u) << "the head's weights are the embedding's";
  EXPECT_GT(precision.at("share_of_operations"), 0.5);
  int converted = 0;
  for (const Value& value : om->program.graph.values())
    converted += value.constant && value.type.dtype == DType::kInt7;
  EXPECT_EQ(precision.at("products"), 2 * 7) << "all but the head, as they are before fusion";
  EXPECT_EQ(converted, 2 * 4);
}

TEST_F(CompileTest, DTypeOptions) {
  EXPECT_EQ(Must(ParseDTypeOption("keep")), std::nullopt);
  EXPECT_EQ(Must(ParseDTypeOption("bf16")), DType::kBF16);
  const std::optional<DType> int8 = Must(ParseDTypeOption("int8"));
  EXPECT_EQ(int8, HasVnni(*SelectedIsa()) ? DType::kInt8 : DType::kInt7);
  for (const char* name : {"int7", "q8_0", "i8", ""}) EXPECT_FALSE(ParseDTypeOption(name).ok());
}

TEST_F(CompileTest, TheSameBytesEveryTime) {
  Must(Compile({}));
  const std::string first(Must(Must(OmReader::Open(folder_ / "m.om")).Section(kWeightsSection)));
  const OmReader memory = Must(CompileToMemory(folder_ / "llama", {}));
  EXPECT_EQ(Must(memory.Section(kWeightsSection)), first);
  EXPECT_EQ(Must(memory.Section(kGraphSection)),
            Must(Must(OmReader::Open(folder_ / "m.om")).Section(kGraphSection)));
}

TEST_F(CompileTest, AFailureLeavesNoFile) {
  const std::pair<CompileOptions, std::string_view> cases[] = {
      {{.max_context = 129}, "max-context is 129, expected 1 to 128"},
      {{.max_context = -1}, "max-context"},
      {{.optimization_level = 4}, "level 4"},
      {{.disabled_passes = {"no_such_pass"}}, "no_such_pass"},
      {{.keep = {"no_such_value"}}, "no_such_value"},
      {{.progress = [](uint64_t, uint64_t) { return false; }}, "stopped"}};
  for (const auto& [options, message] : cases) {
    const auto result = Compile(options);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find(message), std::string::npos)
        << result.status().message();
    EXPECT_EQ(folder_.Names(), std::vector<std::string>{"llama"});
  }
}

TEST_F(CompileTest, ProgressReachesTheTotal) {
  uint64_t last = 0, total = 0;
  Must(Compile({.progress = [&](uint64_t done, uint64_t of) {
    EXPECT_GT(done, last);
    EXPECT_TRUE(total == 0 || of == total);
    last = done;
    total = of;
    return true;
  }}));
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 0u);
}

TEST_F(CompileTest, AKeptValueIsAnOutput) {
  Must(Compile({.keep = {"model.layers.0.mlp.up_proj"}}));
  const auto om = Must(LoadOmModel(Must(OmReader::Open(folder_ / "m.om")), BuiltinOps(), "m.om"));
  EXPECT_TRUE(std::ranges::any_of(om->program.graph.outputs(), [](const auto& output) {
    return output.first == "model.layers.0.mlp.up_proj";
  }));
}

TEST_F(CompileTest, KnowsAnOmFile) {
  Must(Compile({}));
  EXPECT_TRUE(IsOmFile(folder_ / "m.om"));
  EXPECT_FALSE(IsOmFile(folder_.Write("short", "TBO")));
  EXPECT_FALSE(IsOmFile(folder_ / "llama/model.safetensors"));
  EXPECT_FALSE(IsOmFile(folder_ / "nothing"));
}

}  // namespace
}  // namespace tboost
