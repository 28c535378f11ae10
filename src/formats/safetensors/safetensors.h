// safetensors: a u64 length, a JSON header, then the tensors' bytes without overlap or gap.
// Source of the format: the description in the safetensors project's README.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/formats/raw_model.h"

namespace tboost {

// The tensors of one file's `bytes`, ordered by offset; `file` is stored in each. `name` starts
// every message. A dtype outside F32 F16 BF16 I64 I32 I8 U8 BOOL is kUnsupported.
Result<std::vector<RawTensor>> ParseSafetensors(std::string_view bytes, std::string_view name,
                                                int file = 0);

// Tensor name and shard file name, in the order of tensor names, of a
// model.safetensors.index.json's `text`. The names are as found: not yet checked paths.
Result<std::vector<std::pair<std::string, std::string>>> ParseSafetensorsIndex(
    std::string_view text, std::string_view name);

Result<RawModel> ReadSafetensors(const std::string& path);

// A tensor to write; `bytes` are its elements, row-major and little-endian.
struct SafetensorsTensor {
  std::string_view name;
  DType dtype = DType::kF32;
  Shape shape = {};
  std::string_view bytes = {};
};

// Writes a file that appears whole or not at all, with the tensors in the order given. A dtype that
// the format lacks, a size that does not fit the shape, a name that is there twice, is
// "__metadata__" or is no UTF-8 are kInvalidArgument.
Status WriteSafetensors(const std::string& path, std::span<const SafetensorsTensor> tensors);

}  // namespace tboost
