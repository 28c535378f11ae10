#include "src/formats/hf_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "src/base/file.h"
#include "src/formats/contained_file.h"
#include "src/formats/quoted.h"
#include "src/formats/safetensors/safetensors.h"

namespace tboost {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

// Maps `path` and appends its file and tensors. Messages give the real path.
Status AddFile(const std::string& path, std::vector<MappedFile>& files,
               std::vector<RawTensor>& tensors) {
  TBOOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  TBOOST_ASSIGN_OR_RETURN(std::vector<RawTensor> added,
                          ParseSafetensors(file.bytes(), path, static_cast<int>(files.size())));
  files.push_back(std::move(file));
  std::ranges::move(added, std::back_inserter(tensors));
  return OkStatus();
}

Result<RawModel> ReadShards(const std::string& folder, const std::string& index_path) {
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadFile(index_path));
  TBOOST_ASSIGN_OR_RETURN(const auto index, ParseSafetensorsIndex(text, index_path));
  std::vector<std::string> names;
  for (const auto& [tensor, shard] : index) names.push_back(shard);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());

  std::vector<MappedFile> files;
  std::vector<RawTensor> tensors;
  for (const std::string& name : names) {
    TBOOST_ASSIGN_OR_RETURN(const std::string path, FindContainedFile(folder, name));
    if (path.empty())
      return NotFoundError("{}: names the shard {}, which is missing", index_path, Quoted(name));
    TBOOST_RETURN_IF_ERROR(AddFile(path, files, tensors));
  }
  TBOOST_ASSIGN_OR_RETURN(RawModel model, RawModel::Make(std::move(files), std::move(tensors)));
  for (const auto& [tensor, shard] : index) {
    const RawTensor* found = model.Find(tensor);
    if (found == nullptr || names[found->file] != shard)
      return CorruptError("{}: tensor {} is not in {}", index_path, Quoted(tensor), Quoted(shard));
  }
  return model;
}

Result<RawModel> ReadWeights(const std::string& folder) {
  TBOOST_ASSIGN_OR_RETURN(const std::string single, FindContainedFile(folder, kWeights));
  if (!single.empty()) return ReadSafetensors(single);
  TBOOST_ASSIGN_OR_RETURN(const std::string index, FindContainedFile(folder, kIndex));
  if (!index.empty()) return ReadShards(folder, index);
  for (const std::string_view pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    TBOOST_ASSIGN_OR_RETURN(const std::string path, FindContainedFile(folder, pickled));
    if (!path.empty())
      return UnsupportedError(
          "{}: the weights are pickled ({}): only safetensors is read; save the model with "
          "safe_serialization=True first",
          folder, pickled);
  }
  return NotFoundError("{}: neither {} nor {} is there", folder, kWeights, kIndex);
}

}  // namespace

Result<std::optional<std::string>> HfFolder::ReadText(std::string_view name) const {
  TBOOST_ASSIGN_OR_RETURN(const std::string file, FindContainedFile(path, name));
  if (file.empty()) return std::optional<std::string>();
  TBOOST_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
  return std::optional(std::move(text));
}

Result<std::optional<Json>> HfFolder::ReadJson(std::string_view name) const {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadText(name));
  if (!text) return std::optional<Json>();
  TBOOST_ASSIGN_OR_RETURN(Json json, ParseJson(*text, fmt::format("{}/{}", path, name)));
  return std::optional(std::move(json));
}

Result<HfFolder> ReadHfFolder(const std::string& path) try {
  std::error_code error;
  if (!fs::is_directory(path, error)) return NotFoundError("{}: not a folder", path);
  HfFolder folder;
  folder.path = path;
  TBOOST_ASSIGN_OR_RETURN(std::optional<Json> config, folder.ReadJson("config.json"));
  if (!config) return NotFoundError("{}/config.json: not found", path);
  if (!config->is_object()) return CorruptError("{}/config.json: expected an object", path);
  folder.config = *std::move(config);
  TBOOST_ASSIGN_OR_RETURN(folder.weights, ReadWeights(path));
  return folder;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to read the folder", path);
}

}  // namespace tboost
