// Normalisers of tokenizer.json: text to text, before it is cut.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/json.h"
#include "src/base/status.h"

namespace tboost {

// Valid UTF-8 to valid UTF-8. Thread-safe. Empty where a tokenizer has no normaliser. Fails only
// where a pattern takes too long.
using Normalizer = std::function<Result<std::string>(std::string_view)>;

// From the object `normalizer` of tokenizer.json (null: none). An unknown type is an unsupported
// error that names it.
Result<Normalizer> MakeNormalizer(const Json& spec);

}  // namespace tboost
