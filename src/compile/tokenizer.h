// The tokenizer section of an imported model.
#pragma once

#include <string>

#include "src/import/import_model.h"

namespace tboost {

// The blob of the model's tokenizer; empty where the folder has no tokenizer.json.
Result<std::string> BuildTokenizer(const ImportedModel& model);

}  // namespace tboost
