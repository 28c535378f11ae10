// A Hugging Face model folder: config.json, safetensors weights and the small files beside them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/formats/raw_model.h"

namespace tboost {

struct HfFolder {
  std::string path;
  Json config;  // config.json, an object
  RawModel weights;

  // A further file of the folder by its relative name (tokenizer.json, tokenizer_config.json,
  // special_tokens_map.json, generation_config.json, modules.json, 1_Pooling/config.json,
  // sentence_bert_config.json, chat_template.jinja...); nullopt where there is none. A file that
  // leads out of the folder, or is no JSON, is an error.
  Result<std::optional<Json>> ReadJson(std::string_view name) const;
  Result<std::optional<std::string>> ReadText(std::string_view name) const;
};

// Reads config.json and maps model.safetensors, or the shards that model.safetensors.index.json
// names. Only regular files are read, and they must lie in the folder: a symbolic link may lead
// elsewhere only within it, or, in a Hugging Face cache (X/snapshots/REVISION), to X/blobs. A
// folder with pickled weights alone is kUnsupported.
Result<HfFolder> ReadHfFolder(const std::string& path);

}  // namespace tboost
