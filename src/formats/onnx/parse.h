// From the bytes of a ModelProto to the structs of onnx.h.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/formats/onnx/external.h"
#include "src/formats/onnx/onnx.h"

namespace tboost {

// Fills everything of `model` but its files, of which `bytes` is the first. Messages lack its name.
Status ParseModel(std::string_view bytes, ExternalFiles& files, OnnxModel& model);

}  // namespace tboost
