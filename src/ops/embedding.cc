#include "src/ops/embedding.h"

#include <cmath>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<EmbeddingAttributes>(attributes, "embedding"));
  ShapeRule rule(Embedding(), inputs, present);
  rule.Require(std::isfinite(a.scale), "scale is {}", a.scale);
  rule.Weight(0, "vk");
  rule.Require(!rule.present(0) || Info(rule.input(0).dtype).row_bytes == 0,
               "table is {}, which products alone read",
               DTypeName(inputs.empty() ? DType::kF32 : inputs[0].dtype));
  rule.Operand(1, "t", DType::kI32);
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<EmbeddingAttributes>(*call.attributes);
  const RefTensor &table = *call.inputs[0].tensor, &ids = *call.inputs[1].tensor;
  RefTensor& y = call.outputs[0];
  for (int64_t t = 0; t < y.rows(); ++t) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t id, RowIndex("embedding", ids.data[t], table.rows()));
    for (int64_t k = 0; k < y.columns(); ++k) y.row(t)[k] = a.scale * table.row(id)[k];
  }
  return OkStatus();
}

// Only the rows gathered are read.
Cost EmbeddingCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   const Attributes&) {
  TensorView rows = inputs[0];
  rows.shape[0] = outputs[0].shape[0];
  const TensorView moved[] = {rows, inputs[1]};
  return StreamCost(moved, outputs, static_cast<double>(outputs[0].shape.elements()));
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(
      const ValueId table,
      context.graph->Add(EmbeddingGrad(), context.name + ".table",
                         {context.output_gradients[0], context.inputs[1], context.inputs[0]},
                         *context.attributes));
  return std::vector<ValueId>{table, kNone};
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<EmbeddingAttributes>(*context.attributes);
  const TensorView &table = context.inputs[0], &ids = context.inputs[1], &y = context.outputs[0];
  kernels::EmbedArgs args;
  args.tokens = ids.shape[0];
  args.k = table.shape[1];
  args.ids = ids.as<const int32_t>();
  args.dtype = table.dtype;
  args.panels = table.data;
  args.scale = static_cast<float>(a.scale);
  args.out = MutableFloats(y);
  args.ldo = y.stride();
  return CallKernel("embed", context.kernels->embed, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  auto add = [&](int64_t tokens, int64_t vocab, int64_t k, DType dtype, double scale) {
    cases.push_back(
        MakeCase(fmt::format("{} of {} rows of {} ({})", tokens, vocab, k, DTypeName(dtype)),
                 {TensorType({vocab, k}, dtype), TensorType({tokens}, DType::kI32)},
                 MakeAttributes(EmbeddingAttributes{scale})));
    cases.back().index_limit = vocab;
  };
  add(1, 1, 1, DType::kF32, 1);
  add(9, 21, 33, DType::kF32, 1);
  add(5, 7, 13, DType::kF16, 24);
  for (const DTypeInfo& info : AllDTypes())
    if (info.block_elements > 1) add(6, 19, 512, info.dtype, 1.5);
  return cases;
}

}  // namespace

const OpRecord& Embedding() {
  static const OpRecord record = {
      .name = "embedding",
      .doc = "y[t] = scale * table[ids[t]].",
      .inputs = {{.name = "table", .form = ConstantForm::kPanels}, {"ids"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<EmbeddingAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = EmbeddingCost,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
