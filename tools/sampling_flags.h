// The options of generation that `generate` and `chat` share.
#pragma once

#include <CLI/CLI.hpp>

#include "tboost/generate.h"

namespace tboost {

// Adds --max-tokens, --temperature and the other sampling options, --seed and --stop. Their ranges
// are checked by the generator.
void AddGenerateFlags(CLI::App& app, GenerateOptions& options);

}  // namespace tboost
