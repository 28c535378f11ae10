// GGUF, versions 2 and 3, little-endian: typed metadata, then tensors in ggml's storage types.
// Source of the format: the GGUF specification of the ggml project.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/gguf/metadata.h"
#include "src/formats/raw_model.h"

namespace tboost {

// What one file's bytes say. `metadata` views them.
struct GgufContents {
  GgufMetadata metadata;
  std::vector<RawTensor> tensors;  // ordered by offset
};

// Parses a whole file's `bytes` in linear time; `name` starts every message. Storage types that
// have no DType, big-endian files and versions other than 2 and 3 are kUnsupported; the message
// names the tensor and the type.
Result<GgufContents> ParseGguf(std::string_view bytes, std::string_view name);

struct GgufModel {
  RawModel weights;
  GgufMetadata metadata;  // views weights.files()[0]
};

// One part of a model split over several files is kUnsupported.
Result<GgufModel> ReadGguf(const std::string& path);

}  // namespace tboost
