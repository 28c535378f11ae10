// The files and buffers of a model's external data, each opened once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/onnx/onnx.h"

namespace tboost {

// Finds locations among buffers or in a folder and appends what it opens to a model's files. Not
// thread-safe.
class ExternalFiles {
 public:
  // `folder` is the model's, nullopt where only buffers count. What it is given outlives it.
  ExternalFiles(std::optional<std::string> folder, std::span<const OnnxBuffer> buffers,
                std::vector<OnnxFile>& files)
      : folder_(std::move(folder)), buffers_(buffers), files_(files) {}

  // The index of the file at `location` in the files. OnnxModel::Open says what is allowed.
  Result<int> Find(std::string_view location);
  const OnnxFile& file(int index) const { return files_[index]; }

 private:
  Result<int> Open(std::string_view location);

  std::optional<std::string> folder_;
  std::span<const OnnxBuffer> buffers_;
  std::vector<OnnxFile>& files_;
  std::map<std::string, int, std::less<>> by_location_;
  std::map<std::string, int, std::less<>> by_path_;
};

}  // namespace tboost
