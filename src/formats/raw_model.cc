#include "src/formats/raw_model.h"

#include <algorithm>
#include <numeric>

#include "src/base/checked.h"
#include "src/formats/quoted.h"

namespace tboost {

Result<RawModel> RawModel::Make(std::vector<MappedFile> files, std::vector<RawTensor> tensors) {
  for (const RawTensor& tensor : tensors) {
    if (tensor.file < 0 || static_cast<size_t>(tensor.file) >= files.size())
      return CorruptError("tensor {}: lies in file {} of {}", Quoted(tensor.name), tensor.file,
                          files.size());
    const MappedFile& file = files[tensor.file];
    if (!InRange(tensor.offset, tensor.bytes, file.bytes().size()))
      return CorruptError("{}: tensor {}: {} bytes at {} leave the file of {} bytes", file.path(),
                          Quoted(tensor.name), tensor.bytes, tensor.offset, file.bytes().size());
  }
  RawModel model;
  model.files_ = std::move(files);
  model.tensors_ = std::move(tensors);
  // Sorted positions rather than a hash table: no copies of names, and no input makes it slow.
  const auto name = [&model](uint32_t i) -> const std::string& { return model.tensors_[i].name; };
  model.by_name_.resize(model.tensors_.size());
  std::iota(model.by_name_.begin(), model.by_name_.end(), 0u);
  std::ranges::sort(model.by_name_, {}, name);
  const auto twice = std::ranges::adjacent_find(model.by_name_, {}, name);
  if (twice != model.by_name_.end()) {
    const RawTensor& tensor = model.tensors_[twice[1]];
    return CorruptError("{}: tensor {} is there twice", model.files_[tensor.file].path(),
                        Quoted(tensor.name));
  }
  return model;
}

const RawTensor* RawModel::Find(std::string_view name) const {
  const auto projection = [this](uint32_t i) -> std::string_view { return tensors_[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, projection);
  if (found == by_name_.end() || tensors_[*found].name != name) return nullptr;
  return &tensors_[*found];
}

}  // namespace tboost
