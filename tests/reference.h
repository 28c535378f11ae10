// What a whole model means, by the reference interpreter.
#pragma once

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "src/formats/raw_model.h"
#include "src/ops/interpreter.h"
#include "tests/model_testing.h"

namespace tboost::testing {

// One step of all `sequences` in double: the graph's outputs, and the caches it leaves.
struct Meaning {
  std::map<std::string, RefTensor> outputs;
  std::map<std::string, RefKvCache> caches;
};

inline Meaning Interpret(const Graph& graph, const RawModel& weights,
                         std::span<const Ids> sequences) {
  Meaning out;
  std::vector<double> ids, rows;
  Ids offsets = {0}, past(sequences.size(), 0), sequence_of;
  for (const Ids& sequence : sequences) {
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    sequence_of.insert(sequence_of.end(), sequence.size(),
                       static_cast<int32_t>(offsets.size()) - 1);
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  const Shape shape{static_cast<int64_t>(ids.size())};
  rows.resize(ids.size());
  std::iota(rows.begin(), rows.end(), 0.0);
  InterpreterInputs inputs;
  inputs.tensors = {{"input_ids", {shape, ids}},
                    {"output_rows", {shape, rows}},
                    {"token_type_ids", {shape, std::vector<double>(ids.size())}}};
  for (ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (value.type.kind != ValueType::Kind::kKvCache) continue;
    RefKvCache& cache = out.caches[value.name];
    cache.kv_heads = static_cast<int>(*value.type.shape[0].constant());
    cache.head_dim = static_cast<int>(*value.type.shape[1].constant());
    cache.keys.resize(sequences.size());
    cache.values.resize(sequences.size());
    inputs.caches[value.name] = &cache;
  }
  SequenceLayout layout;
  layout.sequences = static_cast<int>(sequences.size());
  layout.tokens = shape[0];
  layout.offsets = offsets.data();
  layout.past = past.data();
  layout.sequence_of = sequence_of.data();
  inputs.layout = &layout;
  const auto source = [&](int file, uint64_t offset, uint64_t bytes) -> Result<std::string_view> {
    return weights.files()[file].bytes().substr(offset, bytes);
  };
  out.outputs = Must(InterpretOutputs(graph, inputs, source));
  return out;
}

}  // namespace tboost::testing
