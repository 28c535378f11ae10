#include "src/formats/onnx/external.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "src/formats/contained_file.h"
#include "src/formats/quoted.h"

namespace tboost {

Result<int> ExternalFiles::Find(std::string_view location) {
  const auto known = by_location_.find(location);
  if (known != by_location_.end()) return known->second;
  TBOOST_ASSIGN_OR_RETURN(const int index, Open(location));
  by_location_.emplace(location, index);
  return index;
}

Result<int> ExternalFiles::Open(std::string_view location) {
  const int next = static_cast<int>(files_.size());
  const auto buffer = std::ranges::find(buffers_, location, &OnnxBuffer::location);
  if (buffer != buffers_.end()) {
    files_.push_back({std::string(location), buffer->bytes, {}});
    return next;
  }
  if (!folder_)
    return NotFoundError("the external data {} is none of the {} buffers given", Quoted(location),
                         buffers_.size());
  TBOOST_ASSIGN_OR_RETURN(const std::string path, FindContainedFile(*folder_, location));
  if (path.empty())
    return NotFoundError("the external data {} is not in {}", Quoted(location), *folder_);
  const auto [known, fresh] = by_path_.emplace(path, next);
  if (!fresh) return known->second;
  // A hard link is a way out of the folder that no path shows.
  std::error_code error;
  const uintmax_t links = std::filesystem::hard_link_count(path, error);
  if (!error && links > 1)
    return InvalidArgumentError("the external data {} has {} hard links; copy the file", path,
                                links);
  TBOOST_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::Open(path));
  const std::string_view bytes = mapping.bytes();
  files_.push_back({path, bytes, std::move(mapping)});
  return next;
}

}  // namespace tboost
