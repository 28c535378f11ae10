#include "src/profile/tune_tiles.h"

#include "src/formats/test_bytes.h"
#include "src/generate/model_state.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

class TuneTilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteTinyModel("llama_tied", folder_ / "llama");
    Must(CompileToFile(folder_ / "llama", folder_ / "m.om", {}));
    model_ = Must(Model::Load(*runtime_, folder_ / "m.om"));
  }
  TemporaryFolder folder_;
  std::unique_ptr<Runtime> runtime_ = MakeRuntime();
  std::unique_ptr<Model> model_;
};

TEST_F(TuneTilesTest, EveryProductIsMeasured) {
  const TunedTiles tuned = Must(TuneTiles(*model_, 3600, nullptr));
  EXPECT_EQ(tuned.measured, (std::vector<int64_t>{1, 16, 128}));
  EXPECT_TRUE(tuned.left.empty());
  EXPECT_EQ(tuned.products, 3 * 4u + 1) << "qkv, out, gate and up, down; the head of one row";
  EXPECT_EQ(tuned.hints.isa, runtime_->isa());
  ASSERT_EQ(tuned.hints.products.size(), tuned.gains.size());
  for (const double gain : tuned.gains) EXPECT_GE(gain, 0.03);
  EXPECT_EQ(model_->state().kv_pool->pages_in_use(), 0);
}

// The tiles of steps of so many tokens when those of that rank are taken.
std::vector<TileHint> TilesOfRank(const Model& model, int rank, int64_t tokens) {
  Model::State& state = model.state();
  Executor executor(*state.runtime, state.om->program, state.om->weights.data(), &*state.kv_pool,
                    {.hints = {}, .rank = rank});
  executor.EnableProfile();
  const Ids ids(static_cast<size_t>(tokens), 7);
  KvSequence kv;
  Must(state.kv_pool->Reserve(kv, tokens));
  const SequenceStep sequence{ids, &kv};
  Must(executor.Run({.sequences = {&sequence, 1}}, [](const auto&) { return OkStatus(); }));
  state.kv_pool->Truncate(kv, 0);
  std::vector<TileHint> tiles;
  const std::vector<StepProfile> profile = executor.Profile();
  for (const CallProfile& call : profile.at(0).calls)
    if (call.tile.tile_m > 0 && call.tile.product.m > 0) tiles.push_back(call.tile);
  return tiles;
}

std::vector<float> Logits(const Model& model) {
  std::vector<float> all;
  Ids ids(40);
  std::iota(ids.begin(), ids.end(), 3);
  Must(Generator(model).Score(ids, [&](int64_t, int64_t rows, const float* logits) {
    all.insert(all.end(), logits, logits + rows * model.vocab_size());
    return OkStatus();
  }));
  return all;
}

TEST_F(TuneTilesTest, AHintIsUsedAndKeepsTheBits) {
  TileHints hints;
  hints.cpu = runtime_->state().topology.model_name;
  hints.isa = runtime_->isa();
  hints.products = TilesOfRank(*model_, 3, 32);
  ASSERT_GE(hints.products.size(), 4u);
  for (const bool here : {true, false}) {
    if (!here) hints.cpu += " of another kind";
    Must(StoreTileHints(folder_ / "m.om", hints));
    const auto hinted = Must(Model::Load(*runtime_, folder_ / "m.om"));
    EXPECT_TRUE(hinted->state().om->reader.Verify().ok());
    Executor& executor = *hinted->state().executor;
    executor.EnableProfile();
    EXPECT_EQ(Logits(*hinted), Logits(*model_));
    int used = 0;
    for (const StepProfile& step : executor.Profile())
      for (const CallProfile& call : step.calls)
        used += call.detail.find(" from hint") != std::string::npos;
    EXPECT_EQ(used > 0, here);
  }
}

// The least tile that a file may name, and all of the product.
TEST_F(TuneTilesTest, TheExtremesKeepTheBits) {
  TileHints hints = {runtime_->state().topology.model_name, runtime_->isa(),
                     TilesOfRank(*model_, 0, 32)};
  for (const bool least : {true, false}) {
    for (TileHint& hint : hints.products) {
      const int64_t unit = kPanelColumns * (hint.product.gated ? 2 : 1);
      hint.tile_m = least ? 1 : hint.product.m;
      hint.tile_n = least ? unit : (hint.product.n + unit - 1) / unit * unit;
    }
    Must(StoreTileHints(folder_ / "m.om", hints));
    EXPECT_EQ(Logits(*Must(Model::Load(*runtime_, folder_ / "m.om"))), Logits(*model_)) << least;
  }
}

TEST_F(TuneTilesTest, TimeIsBoundedAndUsersMayStop) {
  const TunedTiles none = Must(TuneTiles(*model_, 0, nullptr));
  EXPECT_EQ(none.left.size(), 3u);
  EXPECT_TRUE(none.hints.products.empty());
  int calls = 0;
  EXPECT_THAT(TuneTiles(*model_, 10, [&](uint64_t, uint64_t) { return ++calls < 5; }),
              FailsWith(StatusCode::kCancelled, "stopped"));
}

}  // namespace
}  // namespace tboost
