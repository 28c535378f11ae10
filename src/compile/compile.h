// From a model file to an .om: import, optimise, write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/plan/om_model.h"

namespace tboost {

struct CompileOptions {
  std::optional<DType> dtype = {};  // of matrices: f32, f16, bf16; nullopt keeps the file's formats
  int64_t max_context = 0;     // tokens of a sequence, at most the model's own; 0: the model's own
  int optimization_level = 3;  // passes up to this level run
  std::vector<std::string> disabled_passes = {};
  std::vector<std::string> keep = {};  // values that stay visible to `run`: none is fused away
  Progress progress = {};              // null: none
};

// Compiles to a file, which appears whole or not at all. The report: sources, parameters, bytes,
// what each pass did and what it did not fuse, and why.
Result<Json> CompileToFile(const std::string& model, const std::string& output,
                           const CompileOptions& options);
// Compiles into memory, for models that are run directly.
Result<OmReader> CompileToMemory(const std::string& model, const CompileOptions& options);

// Whether `path` is an .om (by its first bytes).
bool IsOmFile(const std::string& path);

}  // namespace tboost
