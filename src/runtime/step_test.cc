// Steps of whole small models: that they allocate nothing, how often their workers meet, and that
// neither fusion nor the number of workers changes their bits.
#include <atomic>
#include <cstdlib>
#include <new>

#include "src/formats/test_bytes.h"
#include "src/runtime/executor.h"
#include "tests/model_testing.h"
#include "tests/sanitized.h"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

#if !TBOOST_SANITIZED  // which have operators of their own
namespace {

void* Count(size_t bytes, size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded ? rounded : alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Of this test program: they count.
void* operator new(size_t bytes) { return Count(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Count(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace tboost {
namespace {

using namespace testing;

constexpr std::string_view kDecoders[] = {"llama_tied", "llama_llama3", "mistral", "qwen2",
                                          "gemma3"};

class StepTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { WriteTinyModel(GetParam(), folder_.path()); }

  // Logits of a prompt read in two parts and of tokens decoded after it, for two sequences.
  static std::vector<float> Decode(TestModel& model) {
    std::vector<float> logits;
    std::vector<KvSequence> kv(2);
    const Ids prompt = {5, 17, 3, 88, 42, 9, 61, 2, 30, 11, 54, 76, 21, 33, 8, 65, 14, 93, 47};
    const auto run = [&](std::vector<std::span<const int32_t>> ids) {
      std::vector<SequenceStep> steps;
      std::vector<int32_t> rows;
      int32_t tokens = 0;
      for (size_t s = 0; s < ids.size(); ++s) {
        Must(model.pool().Reserve(kv[s], static_cast<int64_t>(ids[s].size())));
        steps.push_back({ids[s], &kv[s]});
        rows.push_back((tokens += static_cast<int32_t>(ids[s].size())) - 1);
      }
      Must(model.executor().Run({.sequences = steps, .token_type_ids = {}, .output_rows = rows},
                                [&](const Executor::Outputs& outputs) {
                                  const Floats read = TestModel::Copy(outputs.Get("logits"));
                                  logits.insert(logits.end(), read.values.begin(),
                                                read.values.end());
                                  return OkStatus();
                                }));
    };
    const std::span<const int32_t> all(prompt);
    run({all.first(17), all.first(3)});
    run({all.subspan(17), all.subspan(3, 9)});
    for (int32_t id = 20; id < 28; ++id) run({{&id, 1}, {&id, 1}});
    for (KvSequence& sequence : kv) model.pool().Truncate(sequence, 0);
    return logits;
  }

  TemporaryFolder folder_;
};

TEST_P(StepTest, FusionAndWorkersKeepTheBits) {
  const auto one = MakeRuntime(1);
  TestModel plain(*one, folder_.path(), {.disabled_passes = {"fuse_linear_rope_kv"}});
  const std::vector<float> expected = Decode(plain);
  for (const int threads : {1, 2, 3}) {
    const auto runtime = MakeRuntime(threads);
    runtime->state().prefetch = threads == 2;
    TestModel fused(*runtime, folder_.path());
    EXPECT_EQ(Decode(fused), expected) << threads << " threads";
  }
}

TEST_P(StepTest, TilesKeepTheBits) {
  const auto runtime = MakeRuntime();
  TestModel model(*runtime, folder_.path());
  const std::vector<float> expected = Decode(model);
  for (int rank = 1; rank < kernels::kTileRanks; ++rank) {
    TestModel other(*runtime, folder_.path(), {}, {.hints = {}, .rank = rank});
    EXPECT_EQ(Decode(other), expected) << rank;
  }
}

TEST_P(StepTest, WorkersMeetFiveTimesALayer) {
  if (GetParam() == "mistral") GTEST_SKIP() << "its heads of 24 are no whole panels";
  const auto runtime = MakeRuntime();
  TestModel model(*runtime, folder_.path());
  Decode(model);
  const auto layers = static_cast<int64_t>(model.om().program.caches.size());
  // Beside the layers: the embedding and the angles, the rows that are wanted, the end.
  EXPECT_LE(model.executor().Barriers(), 5 * layers + 3);
}

TEST_P(StepTest, AWarmStepAllocatesNothing) {
  TBOOST_SKIP_IF_SANITIZED();
  const auto runtime = MakeRuntime();
  TestModel model(*runtime, folder_.path());
  const Ids prompt = {1, 2, 3};
  KvSequence kv;
  Must(model.pool().Reserve(kv, 60));
  const auto step = [&](std::span<const int32_t> ids) {
    const SequenceStep sequence{ids, &kv};
    const auto row = static_cast<int32_t>(ids.size()) - 1;
    return model.executor().Run(
        {.sequences = {&sequence, 1}, .token_type_ids = {}, .output_rows = {&row, 1}},
        [](const Executor::Outputs& outputs) {
          return outputs.Get("logits").data ? OkStatus() : InternalError("no logits");
        });
  };
  Must(step(prompt));
  Must(step({prompt.data(), 1}));
  const int64_t before = allocations.load();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step({prompt.data(), 1}).ok());
  EXPECT_EQ(allocations.load() - before, 0);
  model.pool().Truncate(kv, 0);
}

INSTANTIATE_TEST_SUITE_P(Decoders, StepTest, ::testing::ValuesIn(kDecoders),
                         [](const auto& info) { return std::string(info.param); });

TEST(Step, AWarmStepOfAnEncoderAllocatesNothing) {
  TBOOST_SKIP_IF_SANITIZED();
  const TemporaryFolder folder;
  WriteTinyModel("bert", folder.path());
  const auto runtime = MakeRuntime();
  TestModel model(*runtime, folder.path());
  const Ids a = {1, 2, 3, 4, 5}, b = {7, 8};
  const SequenceStep steps[] = {{a, nullptr}, {b, nullptr}};
  const auto step = [&] {
    return model.executor().Run({.sequences = steps},
                                [](const Executor::Outputs&) { return OkStatus(); });
  };
  Must(step());
  const int64_t before = allocations.load();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step().ok());
  EXPECT_EQ(allocations.load() - before, 0);
}

TEST(Step, SmallStepsWakeNobody) {
  const TemporaryFolder folder;
  WriteTinyModel("bert", folder.path());
  const auto runtime = Must(Runtime::Create({.threads = 2}));
  TestModel model(*runtime, folder.path());
  model.Run(std::vector<Ids>{{1, 2}}, "embedding");
  EXPECT_EQ(model.executor().Workers(), 1);
  model.Run(std::vector<Ids>(64, Ids(60, 1)), "embedding");
  EXPECT_EQ(model.executor().Workers(), 2);
}

}  // namespace
}  // namespace tboost
