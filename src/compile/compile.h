// From a model file to an .om: import, optimise, write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/json.h"
#include "src/plan/om_model.h"

namespace tboost {

struct CompileOptions {
  // Of matrices: f32, f16, bf16, or int8 (then of products alone; int7 is the same with codes of 7
  // bits); nullopt keeps the file's formats.
  std::optional<DType> dtype = {};
  int64_t max_context = 0;     // tokens of a sequence, at most the model's own; 0: the model's own
  int optimization_level = 3;  // passes up to this level run
  std::vector<std::string> disabled_passes = {};
  std::vector<std::string> keep = {};  // values that stay visible to `run`: none is fused away
  Progress progress = {};              // null: none
};

// "keep" (nullopt), "f32", "bf16", "f16" or "int8": for this processor, with codes of 8 bits where
// it sums products of bytes exactly, else of 7, which it multiplies faster. An error for any other
// name.
Result<std::optional<DType>> ParseDTypeOption(std::string_view name);
inline constexpr std::string_view kDTypeOptions[] = {"keep", "f32", "bf16", "f16", "int8"};

// Compiles to a file, which appears whole or not at all. The report: sources, parameters, bytes,
// what each pass did and what it did not fuse, and why.
Result<Json> CompileToFile(const std::string& model, const std::string& output,
                           const CompileOptions& options);
// Compiles into memory, for models that are run directly.
Result<OmReader> CompileToMemory(const std::string& model, const CompileOptions& options);

// Writes the hints into the manifest of the .om at `path`, in place of any that it has: the file is
// replaced as a whole. The manifest.
Result<Json> StoreTileHints(const std::string& path, const TileHints& hints);

// Whether `path` is an .om (by its first bytes).
bool IsOmFile(const std::string& path);

}  // namespace tboost
