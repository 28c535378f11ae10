#include "src/runtime/executor.h"

#include <thread>

#include "src/base/memory_usage.h"
#include "src/formats/test_bytes.h"
#include "src/runtime/runtime_state.h"
#include "tests/model_testing.h"
#include "tests/sanitized.h"

namespace tboost {
namespace {

using namespace testing;

class ExecutorTest : public ::testing::Test {
 protected:
  std::string Folder(std::string_view name) {
    const std::string path = folder_ / name;
    if (!std::filesystem::exists(path)) WriteTinyModel(name, path);
    return path;
  }
  static Ids SomeIds(size_t count, uint64_t stream = 0) {
    const HashRandom random(3, stream);
    Ids ids(count);
    for (size_t i = 0; i < count; ++i) ids[i] = static_cast<int32_t>(random.Below(i, 100));
    return ids;
  }
  static Status RunOnce(TestModel& model, const StepInputs& inputs) {
    return model.executor().Run(inputs, [](const Executor::Outputs&) { return OkStatus(); });
  }

  TemporaryFolder folder_;
  std::unique_ptr<Runtime> runtime_ = MakeRuntime();
};

TEST_F(ExecutorTest, TwoModelsOnTwoThreadsShareOneRuntime) {
  TestModel bert(*runtime_, Folder("bert")), llama(*runtime_, Folder("llama_tied"));
  const TinyGolden bert_golden("bert"), llama_golden("llama_tied");
  const auto expect = [](TestModel& model, const TinyGolden& golden) {
    const Floats first = model.Run(golden.sequences, golden.output);
    EXPECT_LE(LargestDifference(first.values, golden.expected.values), 1e-4);
    for (int i = 0; i < 60; ++i) {
      // Other shapes in between, so that bindings and the arena change.
      const Ids other = SomeIds(1 + i * 7 % 40, i);
      model.Run({&other, 1}, golden.output);
      ASSERT_EQ(model.Run(golden.sequences, golden.output).values, first.values);
    }
  };
  std::thread second([&] { expect(llama, llama_golden); });
  expect(bert, bert_golden);
  second.join();
}

TEST_F(ExecutorTest, ManyShapesUseBoundedMemory) {
  TBOOST_SKIP_IF_SANITIZED();
  TestModel model(*runtime_, Folder("llama_tied"));
  const auto run = [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      const Ids ids = SomeIds(1 + n % 100);
      std::vector<Ids> sequences(1 + n / 100, ids);
      model.Run(sequences, "logits");
    }
  };
  run(400, 500);  // the largest first
  const uint64_t before = ReadMemoryUsage().resident;
  run(0, 500);
  EXPECT_LE(ReadMemoryUsage().resident, before + (4 << 20));
}

TEST_F(ExecutorTest, TheArenaIsWhatThePlanPredicts) {
  for (std::string_view name : kTinyModels) {
    const auto runtime = MakeRuntime();
    TestModel model(*runtime, Folder(name));
    const std::vector<Ids> sequences = {SomeIds(30), SomeIds(5)};
    model.Run(sequences, TinyGolden(name).output);
    const bool generates = !model.om().program.caches.empty();
    const StepShape shape{35, 2, generates ? 35 : 0};
    const uint64_t predicted = Must(model.om().program.ArenaBytes(shape));
    EXPECT_GE(runtime->state().arena.size(), predicted) << name;
    EXPECT_LE(runtime->state().arena.size(), predicted + 4096) << name;
  }
}

TEST_F(ExecutorTest, CancellationLeavesTheSequenceAsItWas) {
  TestModel model(*runtime_, Folder("llama_tied"));
  const Ids prompt = SomeIds(20);
  KvSequence kv;
  Must(model.pool().Reserve(kv, 40));
  const SequenceStep step{prompt, &kv};
  const int32_t row = 19;
  CancelToken cancel;
  StepInputs inputs{.sequences = {&step, 1}, .token_type_ids = {}, .output_rows = {&row, 1}};
  inputs.cancel = &cancel;
  cancel.Cancel();
  EXPECT_THAT(RunOnce(model, inputs), FailsWith(StatusCode::kCancelled, "stopped"));
  EXPECT_EQ(kv.length, 0);
  cancel.Reset();
  std::vector<float> logits;
  Must(model.executor().Run(inputs, [&](const Executor::Outputs& outputs) {
    logits = TestModel::Copy(outputs.Get("logits")).values;
    EXPECT_EQ(outputs.Get("no such output").data, nullptr);
    return OkStatus();
  }));
  EXPECT_EQ(kv.length, 20);
  const Floats fresh = model.Run({&prompt, 1}, "logits");
  EXPECT_TRUE(std::ranges::equal(logits, fresh.row(19)));
  model.pool().Truncate(kv, 0);
}

TEST_F(ExecutorTest, TheReadersFailureIsTheRuns) {
  TestModel model(*runtime_, Folder("bert"));
  const Ids ids = SomeIds(4);
  const SequenceStep step{ids, nullptr};
  EXPECT_THAT(model.executor().Run({.sequences = {&step, 1}},
                                   [](const Executor::Outputs&) { return IoError("disk full"); }),
              FailsWith(StatusCode::kIo, "disk full"));
}

TEST_F(ExecutorTest, RefusesStepsThatAreNone) {
  TestModel model(*runtime_, Folder("bert"));
  const SequenceStep empty{{}, nullptr};
  EXPECT_THAT(RunOnce(model, {.sequences = {&empty, 1}}),
              FailsWith(StatusCode::kInvalidArgument, "no tokens"));
  const Ids ids = SomeIds(4), types = {0, 0, 0};
  const SequenceStep step{ids, nullptr};
  EXPECT_THAT(RunOnce(model, {.sequences = {&step, 1}, .token_type_ids = types}),
              FailsWith(StatusCode::kInvalidArgument, "3 token types for 4 tokens"));
  EXPECT_THAT(RunOnce(model, {}), FailsWith(StatusCode::kInvalidArgument, "no sequences"));
}

TEST_F(ExecutorTest, ProfileCountsEveryStep) {
  TestModel model(*runtime_, Folder("bert"));
  model.executor().EnableProfile();
  const Ids ids = SomeIds(12);
  for (int run = 0; run < 2; ++run) model.Run({&ids, 1}, "embedding");
  const std::vector<StepProfile> profile = model.executor().Profile();
  ASSERT_EQ(profile.size(), 1u);
  EXPECT_EQ(profile[0].shape, (StepShape{12, 1, 0}));
  EXPECT_EQ(profile[0].runs, 2);
  EXPECT_EQ(profile[0].barriers, 2 * model.executor().Barriers());
  EXPECT_LT(model.executor().Barriers(), static_cast<int64_t>(profile[0].calls.size()));
  double flops = 0, seconds = 0;
  for (const CallProfile& call : profile[0].calls) {
    flops += call.cost.flops;
    EXPECT_LE(call.constant_bytes, call.cost.bytes) << call.name;
    seconds += call.seconds;
    EXPECT_LE(call.waiting, call.seconds) << call.name;
    if (call.kernel == "gemm") {
      EXPECT_THAT(call.detail, ::testing::HasSubstr("f32 weights"));
    }
  }
  EXPECT_LE(seconds, profile[0].seconds);
  // The products alone: 2 layers of 12 * 64 * (4 * 64 + 2 * 128) multiplications and additions.
  EXPECT_GE(flops, 2.0 * 2 * 12 * 64 * (4 * 64 + 2 * 128));
}

}  // namespace
}  // namespace tboost
