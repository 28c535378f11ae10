// One step of each kind of model.
#include "src/runtime/runtime_state.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tests/floor/counted.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

// Compiled beforehand where TBOOST_FLOOR_MODELS names a folder: under callgrind it takes minutes.
std::string PathOf(std::string_view name) {
  const char* folder = std::getenv("TBOOST_FLOOR_MODELS");
  return folder ? fmt::format("{}/{}.om", folder, name) : RealModel(name);
}

// A model on one thread, whose tiles do not depend on the machine.
struct FloorModel {
  explicit FloorModel(std::string_view name) {
    runtime->state().l2_bytes = kFloorL2Bytes;
    model = Must(Model::Load(*runtime, PathOf(name), {.max_context = 128}));
  }
  std::string Entry(std::string_view what) const {
    return fmt::format("{} {}", runtime->isa(), what);
  }
  Ids RandomIds(size_t count) const {
    const HashRandom random(1, "floor");
    Ids ids(count);
    for (size_t i = 0; i < count; ++i)
      ids[i] = static_cast<int32_t>(random.Below(i, static_cast<uint32_t>(model->vocab_size())));
    return ids;
  }

  std::unique_ptr<Runtime> runtime = MakeRuntime(1);
  std::unique_ptr<Model> model;
};

// A prompt, then one more token: each time the step and the choice of a token.
void CountGeneration(std::string_view file, std::string_view name, size_t prompt) {
  const FloorModel floor(file);
  Generator generator(*floor.model);
  const GenerateOptions options = {.max_tokens = 1, .ignore_eos = true};
  const Ids ids = floor.RandomIds(prompt + 1);
  Counted(floor.Entry(fmt::format("{} prefill {}", name, prompt)),
          [&] { Must(generator.Generate(std::span(ids).first(prompt), options)); });
  Generation next;
  Counted(floor.Entry(fmt::format("{} decode", name)),
          [&] { next = Must(generator.Generate(ids, options)); });
  EXPECT_EQ(next.reused_tokens, static_cast<int64_t>(prompt));
}

TEST(InstructionFloor, Encoder) {
  TBOOST_REQUIRE_MODEL("all-MiniLM-L6-v2");
  const FloorModel floor("all-MiniLM-L6-v2");
  const std::vector<Ids> texts = {floor.RandomIds(24)};
  Counted(floor.Entry("minilm embed 24"), [&] { Must(EmbedIds(*floor.model, texts)); });
}

TEST(InstructionFloor, Llama) {
  TBOOST_REQUIRE_MODEL("SmolLM2-135M-Instruct.Q4_1.gguf");
  CountGeneration("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2", 20);
}

TEST(InstructionFloor, Gemma) {
  TBOOST_REQUIRE_MODEL("gemma-3-270m-q4_k_m.gguf");
  CountGeneration("gemma-3-270m-q4_k_m.gguf", "gemma3", 4);
}

}  // namespace
}  // namespace tboost
