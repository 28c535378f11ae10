// The small files beside the weights: pooling, prompts, defaults of generation, chat template.
#pragma once

#include "src/import/import_model.h"

namespace tboost {

// Fills model.settings and model.chat_template from the folder's or file's own metadata.
Status ReadSettings(ImportedModel& model);

}  // namespace tboost
