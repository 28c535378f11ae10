#include <benchmark/benchmark.h>

#include "src/text/tokenizer/test_models.h"
#include "src/text/tokenizer/tokenizer.h"

namespace tboost {
namespace {

// The blob of a real model, or of a small trained tokenizer where the model is not there.
std::string Blob(const std::string& file) {
  auto blob = BuildFromGgufFile(ModelPath(file));
  if (!blob.ok()) blob = BuildTokenizerFromJson(GoldenJson("tokenizers_bytelevel.json"), Json());
  return blob.ok() ? std::move(blob).value() : std::string();
}

void Open(benchmark::State& state, const std::string& file) {
  const std::string blob = Blob(file);
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::Open(blob).ok());
}
BENCHMARK_CAPTURE(Open, smollm2, "SmolLM2-135M-Instruct.Q4_1.gguf")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Open, gemma3, "gemma-3-270m-q4_k_m.gguf")->Unit(benchmark::kMicrosecond);

void Encode(benchmark::State& state, const std::string& file) {
  const std::string blob = Blob(file);
  const auto tokenizer = Tokenizer::Open(blob);
  const auto text = ReadFile(GoldenPath("perplexity.txt"));
  if (!tokenizer.ok() || !text.ok()) return state.SkipWithError("no tokenizer or no text");
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->Encode(*text).ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text->size()));
}
BENCHMARK_CAPTURE(Encode, smollm2, "SmolLM2-135M-Instruct.Q4_1.gguf")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Encode, gemma3, "gemma-3-270m-q4_k_m.gguf")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tboost
