// What the tests of this layer read: goldens in the source tree, real models where they are.
#pragma once

#include <string>

#include "src/base/file.h"
#include "src/base/json.h"
#include "src/formats/gguf/gguf.h"
#include "src/text/tokenizer/gguf_vocabulary.h"
#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {

inline std::string GoldenPath(const std::string& name) {
  return std::string(TBOOST_SOURCE_DIR) + "/tests/golden/" + name;
}
inline std::string ModelPath(const std::string& name) {
  return std::string(TBOOST_SOURCE_DIR) + "/models/" + name;
}

// Null where the file cannot be read.
inline Json GoldenJson(const std::string& name) {
  const auto text = ReadFile(GoldenPath(name));
  if (!text.ok()) return Json();
  auto json = ParseJson(*text, name);
  return json.ok() ? std::move(json).value() : Json();
}

// The blob of the tokenizer in a GGUF file.
inline Result<std::string> BuildFromGgufFile(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(const GgufModel model, ReadGguf(path));
  TBOOST_ASSIGN_OR_RETURN(const GgufVocabulary vocabulary, ReadGgufVocabulary(model.metadata));
  return BuildTokenizerFromGguf(vocabulary);
}

}  // namespace tboost
