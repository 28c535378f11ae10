// The fields tokenizer.ggml.* of a GGUF file as plain data.
#pragma once

#include "src/base/status.h"
#include "src/formats/gguf/metadata.h"
#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {

// A field of the wrong type is corrupt; tokens and the model's name must be there.
Result<GgufVocabulary> ReadGgufVocabulary(const GgufMetadata& metadata);

}  // namespace tboost
