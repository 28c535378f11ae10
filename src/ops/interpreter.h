// The reference interpreter: what a graph means, in double precision.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/graph/op_record.h"
#include "src/graph/recipe_eval.h"

namespace tboost {

// What the inputs of a graph are bound to, by name.
struct InterpreterInputs {
  std::map<std::string, RefTensor, std::less<>> tensors;
  std::map<std::string, RefKvCache*, std::less<>> caches;  // advanced by the nodes that write them
  const SequenceLayout* layout = nullptr;                  // every layout input
};

// Runs every node in order and gives the tensors `wanted`, in that order. Shapes are checked by the
// shape rules of the operators; a failure names the node. Constants are read when first needed
// (`source` serves file recipes) and values are dropped after their last use.
Result<std::vector<RefTensor>> Interpret(const Graph& graph, const InterpreterInputs& inputs,
                                         std::span<const ValueId> wanted,
                                         SourceBytes source = kNoSource);

// The tensors among the graph's outputs, by name.
Result<std::map<std::string, RefTensor>> InterpretOutputs(const Graph& graph,
                                                          const InterpreterInputs& inputs,
                                                          SourceBytes source = kNoSource);

// A concrete shape as a type, and back; an error where a dimension is not known.
ValueType ConcreteType(const Shape& shape, DType dtype);
Result<Shape> ConcreteShape(const ValueType& type);

}  // namespace tboost
