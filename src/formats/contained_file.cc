#include "src/formats/contained_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "src/base/file.h"

namespace tboost {
namespace {

namespace fs = std::filesystem;

bool IsInside(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::ranges::mismatch(folder, path);
  return end == folder.end();
}

}  // namespace

Result<std::string> FindContainedFile(const std::string& folder, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const std::string path, ContainedPath(folder, name));
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return NotFoundError("{}: cannot open: {}", folder, error.message());
  const fs::path target = fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    return std::string();
  if (error) return IoError("{}: cannot open: {}", path, error.message());
  const bool in_cache = root.parent_path().filename() == "snapshots" &&
                        IsInside(target, root.parent_path().parent_path() / "blobs");
  if (!IsInside(target, root) && !in_cache)
    return InvalidArgumentError("{}: the link leads out of the model's folder, to {}", path,
                                target.string());
  // Opening a FIFO would wait for its writer.
  if (!fs::is_regular_file(target, error)) return IoError("{}: not a regular file", path);
  return target.string();
}

}  // namespace tboost
