// Files that a model names, which must lie in its folder.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"

namespace tboost {

// The real path of `folder`/`name`, "" where nothing is there. Only regular files, and they must
// lie in the folder: a symbolic link may lead elsewhere only within it, or, in a Hugging Face cache
// (X/snapshots/REVISION), to X/blobs.
Result<std::string> FindContainedFile(const std::string& folder, std::string_view name);

}  // namespace tboost
