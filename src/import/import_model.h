// From a model file to a graph: the one entry of this layer.
#pragma once

#include <optional>
#include <string>

#include "src/base/json.h"
#include "src/formats/gguf/gguf.h"
#include "src/formats/hf_folder.h"
#include "src/graph/graph.h"
#include "src/import/model_config.h"

namespace tboost {

struct ImportOptions {
  std::optional<DType> matrix_dtype;  // f32, f16, bf16; nullopt keeps the file's formats
};

// A graph whose constants are recipes over the files of `weights()`. Movable; the files stay mapped
// as long as it lives.
struct ImportedModel {
  std::string path;
  std::string architecture;  // the builder's name
  bool generates = false;    // logits and a cache; else embeddings
  ModelConfig config;
  Graph graph;
  // What running it needs to know besides: "embedding" {pooling, normalize, max_length, prompts} or
  // "generation" {eos_token_ids, temperature...}, "context_length".
  Json settings;
  std::string chat_template;  // empty: none

  std::optional<HfFolder> folder;  // one of the two is set
  std::optional<GgufModel> gguf;
  const RawModel& weights() const { return folder ? folder->weights : gguf->weights; }
};

// Reads a Hugging Face folder or a .gguf file and builds its graph. The message of a failure names
// the file and the tensor or field; an unknown architecture is named with the supported list.
Result<ImportedModel> ImportModel(const std::string& path, const ImportOptions& options);

}  // namespace tboost
