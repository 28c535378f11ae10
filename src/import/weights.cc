#include "src/import/weights.h"

#include "src/base/status.h"
#include "src/graph/recipe_builders.h"

namespace tboost {
namespace {

// Parts of names that differ, the longer first where one contains another.
constexpr NameRule kNameRules[] = {
    {"model.layers.", "blk."},
    {"encoder.layer.", "blk."},
    {"model.embed_tokens.", "token_embd."},
    {"embeddings.word_embeddings.", "token_embd."},
    {"embeddings.position_embeddings.", "position_embd."},
    {"embeddings.token_type_embeddings.", "token_types."},
    {"embeddings.LayerNorm.", "token_embd_norm."},
    {"model.norm.", "output_norm."},
    {"lm_head.", "output."},
    {"self_attn.q_proj.", "attn_q."},
    {"self_attn.k_proj.", "attn_k."},
    {"self_attn.v_proj.", "attn_v."},
    {"self_attn.o_proj.", "attn_output."},
    {"self_attn.q_norm.", "attn_q_norm."},
    {"self_attn.k_norm.", "attn_k_norm."},
    {"attention.self.query.", "attn_q."},
    {"attention.self.key.", "attn_k."},
    {"attention.self.value.", "attn_v."},
    {"attention.output.dense.", "attn_output."},
    {"attention.output.LayerNorm.", "attn_output_norm."},
    {"intermediate.dense.", "ffn_up."},
    {"output.dense.", "ffn_down."},
    {"output.LayerNorm.", "layer_output_norm."},
    {"mlp.gate_proj.", "ffn_gate."},
    {"mlp.up_proj.", "ffn_up."},
    {"mlp.down_proj.", "ffn_down."},
    {"input_layernorm.", "attn_norm."},
    {"post_attention_layernorm.", "post_attention_norm."},
    {"pre_feedforward_layernorm.", "ffn_norm."},
    {"post_feedforward_layernorm.", "post_ffw_norm."},
};

}  // namespace

std::string GgufTensorName(std::string_view name, std::span<const NameRule> first) {
  std::string out(name);
  for (const std::span<const NameRule> rules : {first, std::span<const NameRule>(kNameRules)}) {
    for (const NameRule& rule : rules) {
      const size_t at = out.find(rule.hf);
      // A part of a name counts from its start or after a dot.
      if (at == std::string::npos || (at > 0 && out[at - 1] != '.')) continue;
      out.replace(at, rule.hf.size(), rule.gguf);
    }
  }
  return out;
}

std::string WeightSource::FileName(std::string_view name) const {
  return gguf_ ? GgufTensorName(name, rules_) : prefix_ + std::string(name);
}

const RawTensor* WeightSource::Find(std::string_view name) const {
  return raw_.Find(FileName(name));
}

void WeightSource::ChoosePrefix(const std::vector<std::string_view>& prefixes,
                                std::string_view name) {
  for (std::string_view prefix : prefixes) {
    prefix_ = prefix;
    if (Has(name)) return;
  }
  prefix_.clear();
}

Result<const RawTensor*> WeightSource::Get(std::string_view name, const Shape& shape) const {
  const RawTensor* tensor = Find(name);
  if (!tensor) return NotFoundError("tensor {} is missing", FileName(name));
  if (tensor->shape != shape)
    return CorruptError("tensor {} has shape {}, expected {}", tensor->name,
                        tensor->shape.ToString(), shape.ToString());
  return tensor;
}

Result<RecipePtr> WeightSource::Load(const RawTensor& tensor, int64_t rows, int64_t columns) const {
  const DTypeInfo& info = Info(tensor.dtype);
  const bool real = tensor.dtype == DType::kF32 || tensor.dtype == DType::kF16 ||
                    tensor.dtype == DType::kBF16 || info.quantised();
  if (!real)
    return UnsupportedError("tensor {} has type {}, expected a weight format", tensor.name,
                            info.name);
  if (columns % info.block_elements != 0)
    return CorruptError("tensor {} has rows of {} elements, {} needs a multiple of {}", tensor.name,
                        columns, info.name, info.block_elements);
  return FileRecipe(tensor.file, tensor.offset, tensor.dtype, rows, columns);
}

Result<RecipePtr> WeightSource::Matrix(std::string_view name, int64_t rows, int64_t columns) const {
  TBOOST_ASSIGN_OR_RETURN(const RawTensor* tensor, Get(name, {rows, columns}));
  TBOOST_ASSIGN_OR_RETURN(RecipePtr recipe, Load(*tensor, rows, columns));
  return matrix_dtype_ ? Cast(std::move(recipe), *matrix_dtype_) : recipe;
}

Result<RecipePtr> WeightSource::Vector(std::string_view name, int64_t size) const {
  TBOOST_ASSIGN_OR_RETURN(const RawTensor* tensor, Get(name, {size}));
  TBOOST_ASSIGN_OR_RETURN(RecipePtr recipe, Load(*tensor, 1, size));
  return Cast(std::move(recipe), DType::kF32);
}

}  // namespace tboost
