// A model run on token ids, with every output as it is: for `tboost run`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"
#include "tboost/model.h"

namespace tboost {

struct RawInputs {
  Shape shape;                       // [tokens], one sequence, or [batch, seq]
  std::vector<int32_t> ids;          // row-major
  std::vector<int32_t> token_types;  // of the same shape, or empty: all 0
};

// One output over all tokens or sequences. What has a row a token is [tokens, ...] or
// [batch, seq, ...] as the ids are; what has a row a sequence is [batch, ...].
struct RawOutput {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::string data;
};

// Runs the sequences one by one; a language model gives logits for every token. Values of the
// optimised graph named in `keep` become outputs too: kNotFound, with names like it, where there is
// none.
Result<std::vector<RawOutput>> RunRaw(const Model& model, const RawInputs& inputs,
                                      const std::vector<std::string>& keep);

}  // namespace tboost
