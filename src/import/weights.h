// The weights of a model under their Hugging Face names, whatever the file calls them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/raw_model.h"
#include "src/graph/constant.h"
#include "src/tensor/shape.h"

namespace tboost {

// A part of a tensor name and what GGUF calls it.
struct NameRule {
  std::string_view hf, gguf;
};

// Looks tensors up and gives recipes for them. Holds a reference to the raw model, which must
// outlive it; not thread-safe.
class WeightSource {
 public:
  // `gguf`: names are translated, by `rules` before the common ones. `matrix_dtype`: matrices are
  // cast to it; nullopt keeps the file's.
  WeightSource(const RawModel& raw, bool gguf, std::span<const NameRule> rules,
               std::optional<DType> matrix_dtype)
      : raw_(raw), gguf_(gguf), rules_(rules), matrix_dtype_(matrix_dtype) {}

  // Chooses the first of `prefixes` under which `name` exists; lookups are relative to it from then
  // on.
  void ChoosePrefix(const std::vector<std::string_view>& prefixes, std::string_view name);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The tensor as a [rows, columns] matrix; an error names the tensor, the shape expected and
  // found.
  Result<RecipePtr> Matrix(std::string_view name, int64_t rows, int64_t columns) const;
  // The tensor as one f32 row.
  Result<RecipePtr> Vector(std::string_view name, int64_t size) const;

 private:
  const RawTensor* Find(std::string_view name) const;
  Result<const RawTensor*> Get(std::string_view name, const Shape& shape) const;
  std::string FileName(std::string_view name) const;
  Result<RecipePtr> Load(const RawTensor& tensor, int64_t rows, int64_t columns) const;

  const RawModel& raw_;
  bool gguf_;
  std::span<const NameRule> rules_;
  std::optional<DType> matrix_dtype_;
  std::string prefix_;
};

// The GGUF name of a Hugging Face tensor name ("model.layers.3.mlp.up_proj.weight" ->
// "blk.3.ffn_up.weight"); the name itself where there is no rule. `first` go before the common
// rules.
std::string GgufTensorName(std::string_view name, std::span<const NameRule> first = {});

}  // namespace tboost
