// What is to be said of a compiled model: for people and as JSON. Manifests are a file's and so may
// hold anything: what is not as expected is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/plan/om_model.h"
#include "tboost/model.h"
#include "tools/common.h"

namespace tboost {

// Bytes of the files the model was compiled from.
uint64_t SourceBytes(const Json& manifest);

// "12 passes, 301 places rewritten: ...": what was fused.
std::string FusionSummary(const Json& manifest);
// What --dtype int8 converted, and which products it kept; empty where it was not asked for.
std::string PrecisionSummary(const Json& manifest);
// What each pass did, and each place it left alone with the reason.
std::string FusionDetails(const Json& manifest);

// "memory to run: ...": predicted peak for short and full contexts.
std::string MemorySummary(const Model& model);
OrderedJson MemoryJson(const Model& model);

// Constants alike but for the number of their layer.
struct TensorGroup {
  std::string name;  // layer numbers as '*'
  std::string shape, dtype;
  int count = 0;
  uint64_t bytes = 0;  // of all of them
};
std::vector<TensorGroup> GroupTensors(const Program& program);

}  // namespace tboost
