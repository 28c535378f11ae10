// RawModel: the tensors of a model file as they lie in it. What every reader of weights gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/file.h"
#include "src/base/status.h"
#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"

namespace tboost {

// One tensor: what it is and where its bytes lie.
struct RawTensor {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape = {};     // row-major, outermost first (the reverse of GGUF's `ne`)
  int file = 0;         // index into RawModel::files()
  uint64_t offset = 0;  // from the start of the file; no alignment is promised
  uint64_t bytes = 0;
};

// Mapped files and the tensors in them. Immutable and movable; any number of threads may read.
class RawModel {
 public:
  RawModel() = default;  // no tensors
  // A name given twice, or a tensor outside its file, is kCorrupt.
  static Result<RawModel> Make(std::vector<MappedFile> files, std::vector<RawTensor> tensors);

  const std::vector<MappedFile>& files() const { return files_; }
  // In file order, within a file by offset.
  const std::vector<RawTensor>& tensors() const { return tensors_; }
  // nullptr where there is none. O(log n).
  const RawTensor* Find(std::string_view name) const;
  // The tensor's bytes, little-endian and possibly unaligned. Valid while the model lives.
  std::string_view Bytes(const RawTensor& tensor) const {
    return files_[tensor.file].bytes().substr(tensor.offset, tensor.bytes);
  }
  // Tells the system that the tensor was used and need not stay resident. It can be read again.
  void Release(const RawTensor& tensor) const {
    files_[tensor.file].Release(tensor.offset, tensor.bytes);
  }

 private:
  std::vector<MappedFile> files_;
  std::vector<RawTensor> tensors_;
  std::vector<uint32_t> by_name_;  // positions in tensors_, sorted by name
};

}  // namespace tboost
