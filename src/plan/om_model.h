// A compiled model in an .om: which sections there are and what they hold (docs/formats/om.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/file.h"
#include "src/base/json.h"
#include "src/formats/om/container.h"
#include "src/plan/program.h"
#include "src/plan/tile_hints.h"

namespace tboost {

inline constexpr std::string_view kManifestSection = "manifest";
inline constexpr std::string_view kSourceGraphSection = "graph.source";
inline constexpr std::string_view kGraphSection = "graph";
inline constexpr std::string_view kWeightsSection = "weights";
inline constexpr std::string_view kTokenizerSection = "tokenizer";
inline constexpr std::string_view kChatTemplateSection = "chat_template";

// Called with bytes done and bytes in all; returning false stops the work with kCancelled.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;

// Evaluates every constant of `graph`, whose recipes read `sources`, into the section "weights",
// tensor by tensor and some rows at a time, and makes the constants point there.
Status WriteWeights(OmWriter& writer, Graph& graph, const std::vector<MappedFile>& sources,
                    const Progress& progress);

// A loaded .om, ready to be bound. Owns the mapping; immutable, so any number of threads may read.
struct OmModel {
  OmReader reader;
  Json manifest;
  Program program;
  TileHints tiles;
  std::string_view weights, tokenizer, chat_template;  // the last two may be empty
};

// Parses, verifies and plans. `ops` are the operators the graph may use. The result is on the heap
// since views into it are handed out.
Result<std::unique_ptr<OmModel>> LoadOmModel(OmReader reader, const OpRegistry& ops,
                                             std::string_view name);

}  // namespace tboost
