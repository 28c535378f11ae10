// Pre-tokenizers of tokenizer.json: they cut the normalised text into the words the model sees.
#pragma once

#include <functional>

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/text/tokenizer/pieces.h"

namespace tboost {

// Refines the open spans. Thread-safe. Empty where a tokenizer has none. Fails only where a pattern
// takes too long.
using PreTokenizer = std::function<Status(Pieces*)>;

// From the object `pre_tokenizer` of tokenizer.json (null: none). An unknown type is an unsupported
// error that names it.
Result<PreTokenizer> MakePreTokenizer(const Json& spec);

// Whether `spec` has a step that writes bytes as stand-ins, so that any bytes can be told to the
// model.
bool MapsBytes(const Json& spec);

}  // namespace tboost
