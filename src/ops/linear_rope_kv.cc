#include "src/ops/linear_rope_kv.h"

#include <algorithm>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/fused_linear.h"
#include "src/ops/lowering.h"
#include "src/ops/rope.h"
#include "src/ops/rope_kv.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

enum Operand { kX, kW, kBias, kGamma, kBeta, kValueW, kAngles, kLayout, kCache, kQGamma, kKGamma };

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<LinearRopeKvAttributes>(attributes, "linear_rope_kv"));
  ShapeRule rule(LinearRopeKv(), inputs, present);
  rule.Count("heads", a.heads).Count("kv_heads", a.kv_heads).Count("head_dim", a.head_dim);
  rule.Epsilon(a.eps).Epsilon(a.head_eps);
  rule.Require(a.head_dim % kPanelColumns == 0, "head_dim is {}, expected a multiple of {}",
               a.head_dim, kPanelColumns);
  if (!rule.ok()) return rule.Outputs({});
  const int64_t values = a.kv_heads * a.head_dim, all = a.heads * a.head_dim + 2 * values;
  rule.Set('y', all).Set('g', values).Set('d', a.head_dim);
  rule.Set('n', rule.present(kValueW) ? all - values : all);
  rule.Operand(kLayout, "ts").Operand(kX, "tk").Weight(kW, "nk").Operand(kBias, "n");
  rule.Operand(kGamma, "k").Operand(kBeta, "k").Weight(kValueW, "gk");
  rule.Operand(kAngles, "tr").Operand(kQGamma, "d").Operand(kKGamma, "d");
  rule.Require(rule.present(kGamma) == (a.norm != kernels::NormKind::kNone),
               "gamma is needed with a norm and only then");
  rule.Require(!rule.present(kBeta) || a.norm == kernels::NormKind::kLayer,
               "beta needs a layer norm");
  for (const Operand w : {kW, kValueW})
    rule.Require(!a.round_rows || !rule.present(w) || inputs[w].dtype == DType::kBF16,
                 "rows are rounded to bf16, w is {}", DTypeName(inputs[w].dtype));
  if (rule.present(kAngles)) CheckRotaryDim(a.head_dim, rule);
  rule.Cache(kCache, a.kv_heads, a.head_dim);
  return rule.Types({TensorType(rule.Shape("ty")), inputs[kCache]});
}

// Columns [begin, begin + count) of x.
RefTensor CopyColumns(const RefTensor& x, int64_t begin, int64_t count) {
  RefTensor out{{x.rows(), count}, {}};
  for (int64_t t = 0; t < x.rows(); ++t)
    out.data.insert(out.data.end(), x.row(t) + begin, x.row(t) + begin + count);
  return out;
}
void PasteColumns(const RefTensor& from, int64_t begin, RefTensor& to) {
  for (int64_t t = 0; t < from.rows(); ++t)
    std::copy_n(from.row(t), from.columns(), to.row(t) + begin);
}

Status ReferenceProduct(const RefCall& call, const RefOperand& w, const RefOperand& bias,
                        const Attributes& attributes, RefTensor& out) {
  const RefTensor& x = *call.inputs[kX].tensor;
  out.shape = {x.rows(), w.tensor->rows()};
  out.data.assign(out.shape.elements(), 0);
  const RefOperand operands[] = {call.inputs[kX],    w, bias, call.inputs[kGamma],
                                 call.inputs[kBeta], {}};
  return FusedLinear().reference({operands, {&out, 1}, &attributes});
}

// The product, then rope_kv on its columns.
Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<LinearRopeKvAttributes>(*call.attributes);
  const Attributes product = MakeAttributes(
      FusedLinearAttributes{.norm = a.norm, .eps = a.eps, .round_rows = a.round_rows});
  RefTensor& y = call.outputs[0];
  RefTensor part;
  TBOOST_RETURN_IF_ERROR(
      ReferenceProduct(call, call.inputs[kW], call.inputs[kBias], product, part));
  PasteColumns(part, 0, y);
  const int64_t q_width = a.heads * a.head_dim, k_width = a.kv_heads * a.head_dim;
  if (call.inputs[kValueW].tensor) {
    TBOOST_RETURN_IF_ERROR(ReferenceProduct(call, call.inputs[kValueW], {}, product, part));
    PasteColumns(part, q_width + k_width, y);
  }
  RefTensor q = CopyColumns(y, 0, q_width), k = CopyColumns(y, q_width, k_width),
            v = CopyColumns(y, q_width + k_width, k_width);
  const RefOperand operands[] = {{&q},
                                 {&k},
                                 {&v},
                                 call.inputs[kAngles],
                                 call.inputs[kLayout],
                                 call.inputs[kCache],
                                 call.inputs[kQGamma],
                                 call.inputs[kKGamma]};
  RefTensor results[] = {{q.shape, std::vector<double>(q.data.size())}, {}};
  const Attributes heads =
      MakeAttributes(RopeKvAttributes{a.heads, a.kv_heads, a.head_dim, a.head_eps});
  TBOOST_RETURN_IF_ERROR(RopeKv().reference({operands, results, &heads}));
  PasteColumns(results[0], 0, y);
  return OkStatus();
}

Cost CostOfProducts(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                    const Attributes&) {
  const double rows = static_cast<double>(inputs[kX].shape[0]);
  const double weights =
      static_cast<double>(outputs[0].shape[1]) * static_cast<double>(inputs[kX].shape[1]);
  return {rows * (2 * weights + 7 * static_cast<double>(outputs[0].shape[1])),
          BytesOf(inputs.first(kLayout)) + BytesOf(outputs.first(1))};
}

// A task is a tile of rows and whole heads: the product's, which then are rotated and stored while
// they are in cache.
struct LinearRopeKvArgs {
  kernels::GemmArgs product;  // of all columns, or of all but the values
  DType value_dtype;          // of the values, where they have weights of their own
  const void* value_panels;   // null: they do not
  kernels::RopeKvArgs rope;   // of the whole step
  int64_t tile_heads;
  const kernels::KernelTable* kernels;

  int64_t head_dim() const { return rope.head_dim; }
  int64_t heads() const { return rope.heads + 2 * int64_t{rope.kv_heads}; }
  int64_t head_tiles() const { return (heads() + tile_heads - 1) / tile_heads; }
  // The product of the values.
  kernels::GemmArgs values() const {
    kernels::GemmArgs args = product;
    args.c += product.n;
    args.n = rope.kv_heads * head_dim();
    args.weight_dtype = value_dtype;
    args.panels = value_panels;
    return args;
  }
};

int64_t CountTasks(const LinearRopeKvArgs& args) {
  const int64_t row_tiles = (args.product.m + args.product.tile_m - 1) / args.product.tile_m;
  return row_tiles * args.head_tiles();
}

size_t CountScratch(const LinearRopeKvArgs& args) {
  kernels::GemmArgs product = args.product;
  product.tile_n = args.tile_heads * args.head_dim();
  size_t bytes = std::max(kernels::ScratchBytes(product), kernels::ScratchBytes(args.rope));
  if (!args.value_panels) return bytes;
  product.weight_dtype = args.value_dtype;
  return std::max(bytes, kernels::ScratchBytes(product));
}

// The columns of heads [first, end) within those of heads [begin, begin + count).
kernels::GemmRegion HeadsWithin(const LinearRopeKvArgs& args, int64_t first, int64_t end,
                                int64_t begin, int64_t count) {
  const int64_t from = std::clamp<int64_t>(first - begin, 0, count);
  const int64_t to = std::clamp<int64_t>(end - begin, 0, count);
  return {0, 0, from * args.head_dim(), (to - from) * args.head_dim()};
}

void Multiply(const LinearRopeKvArgs& args, const kernels::GemmArgs& product,
              kernels::GemmRegion region, int64_t row, int64_t rows, kernels::Scratch scratch) {
  if (region.columns == 0) return;
  region.row = row;
  region.rows = rows;
  args.kernels->gemm(kernels::SliceGemm(product, region), 0, scratch);
}

void RunTask(const LinearRopeKvArgs& args, int64_t task, kernels::Scratch scratch) {
  const kernels::RopeKvArgs& whole = args.rope;
  const int64_t row = task / args.head_tiles() * args.product.tile_m;
  const int64_t rows = std::min(args.product.tile_m, args.product.m - row);
  const int64_t first = task % args.head_tiles() * args.tile_heads;
  const int64_t end = std::min(args.heads(), first + args.tile_heads);
  const int64_t multiplied = args.product.n / args.head_dim();
  Multiply(args, args.product, HeadsWithin(args, first, end, 0, multiplied), row, rows, scratch);
  if (args.value_panels)
    Multiply(args, args.values(), HeadsWithin(args, first, end, multiplied, whole.kv_heads), row,
             rows, scratch);

  // The task's heads of q, of k and of v; of k and v the cache begins there too.
  const int64_t kv_heads = whole.kv_heads;
  kernels::RopeKvArgs part = whole;
  part.first_token = row;
  part.tokens = row + rows;
  const auto run = [&](const kernels::GemmRegion& columns, bool q, bool k, bool v) {
    if (columns.columns == 0) return;
    const auto count = static_cast<int>(columns.columns / args.head_dim());
    const int64_t head = columns.column / args.head_dim();
    part.heads = q ? count : 0;
    part.kv_heads = q ? 0 : count;
    part.q = whole.q + columns.column;
    part.q_out = whole.q_out + columns.column;
    part.k = k ? whole.k + columns.column : nullptr;
    part.v = v ? whole.v + columns.column : nullptr;
    if (!q) part.cache.base = whole.cache.Keys(0, static_cast<int>(head)).data;
    for (int64_t i = 0; i < kernels::Tasks(part); ++i) args.kernels->rope_kv(part, i, scratch);
  };
  run(HeadsWithin(args, first, end, 0, whole.heads), true, false, false);
  run(HeadsWithin(args, first, end, whole.heads, kv_heads), false, true, false);
  run(HeadsWithin(args, first, end, whole.heads + kv_heads, kv_heads), false, false, true);
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<LinearRopeKvAttributes>(*context.attributes);
  const TensorView &value_w = context.inputs[kValueW], &angles = context.inputs[kAngles],
                   &y = context.outputs[0];
  LinearRopeKvArgs args;
  args.product = MakeGemmArgs(context);
  args.product.norm = {a.norm, Floats(context.inputs[kGamma]), Floats(context.inputs[kBeta]),
                       static_cast<float>(a.eps)};
  args.product.round_rows = a.round_rows;
  args.value_dtype = value_w.dtype;
  args.value_panels = value_w.data;
  args.kernels = context.kernels;

  kernels::RopeKvArgs& rope = args.rope;
  rope.heads = static_cast<int>(a.heads);
  rope.kv_heads = static_cast<int>(a.kv_heads);
  rope.head_dim = static_cast<int>(a.head_dim);
  rope.q_out = MutableFloats(y);
  rope.q = rope.q_out;
  rope.k = rope.q + a.heads * a.head_dim;
  rope.v = rope.k + a.kv_heads * a.head_dim;
  rope.ldq = rope.ldq_out = rope.ldk = rope.ldv = y.stride();
  if (angles.data) SetAngles(angles, rope);
  rope.q_gamma = Floats(context.inputs[kQGamma]);
  rope.k_gamma = Floats(context.inputs[kKGamma]);
  rope.eps = static_cast<float>(a.head_eps);
  rope.cache = context.cache;
  rope.tokens = y.rows();
  rope.layout = context.layout;

  // The tile that suits the product, in whole heads.
  kernels::GemmArgs all = args.product;
  all.n = y.shape[1];
  const TileHint tile = ChooseTile(context, all);
  args.product.tile_m = all.tile_m;
  args.product.tile_k = all.tile_k;
  args.tile_heads = std::max<int64_t>(1, (all.tile_n + a.head_dim / 2) / a.head_dim);
  args.product.tile_n = args.tile_heads * a.head_dim;
  KernelCall call = MakeKernelCall("gemm+rope_kv", RunTask, args, CountTasks, CountScratch);
  DescribeTiled(context, args.product, tile, call);
  return call;
}

struct CaseOptions {
  DType dtype = DType::kF32, value_dtype = DType::kF32;
  int64_t rotary_dim = 0;  // 0: no angles
  bool bias = false, head_norms = false, own_values = false;
};

OpCase Case(std::vector<int32_t> lengths, std::vector<int32_t> past, int64_t k,
            LinearRopeKvAttributes a, CaseOptions o) {
  int64_t t = 0;
  for (const int32_t n : lengths) t += n;
  const int64_t values = a.kv_heads * a.head_dim, all = a.heads * a.head_dim + 2 * values;
  const int64_t n = o.own_values ? all - values : all;
  const ValueType gamma = TensorType({a.head_dim});
  OpCase out =
      MakeCase(fmt::format("t{} k{} heads {}/{} of {} {} {}", t, k, a.heads, a.kv_heads, a.head_dim,
                           DTypeName(o.dtype), o.own_values ? DTypeName(o.value_dtype) : ""),
               {TensorType({t, k}), TensorType({n, k}, o.dtype), TensorType({n}), TensorType({k}),
                TensorType({k}), TensorType({values, k}, o.value_dtype),
                TensorType({t, o.rotary_dim}), LayoutType(t, static_cast<int64_t>(lengths.size())),
                CacheType(a.kv_heads, a.head_dim), gamma, gamma},
               MakeAttributes(a));
  const bool norm = a.norm != kernels::NormKind::kNone;
  out.present = {true,
                 true,
                 o.bias,
                 norm,
                 a.norm == kernels::NormKind::kLayer,
                 o.own_values,
                 o.rotary_dim > 0,
                 true,
                 true,
                 o.head_norms,
                 o.head_norms};
  out.lengths = std::move(lengths);
  out.past = std::move(past);
  return out;
}

std::vector<OpCase> Cases() {
  using kernels::NormKind;
  return {Case({1}, {70}, 32, {9, 3, 64, 0, NormKind::kRms, 1e-5}, {.rotary_dim = 64}),
          Case({1, 40, 3}, {0, 60, 3}, 24, {4, 2, 16}, {.rotary_dim = 8, .bias = true}),
          Case({2, 9}, {63, 0}, 40, {2, 1, 80, 1e-6, NormKind::kLayer, 1e-5}, {.head_norms = true}),
          Case({1, 18}, {0, 0}, 75, {2, 1, 32, 0, NormKind::kRms, 1e-5, true},
               {.dtype = DType::kBF16, .rotary_dim = 32}),
          Case({1, 1}, {5, 64}, 256, {4, 1, 256, 1e-6, NormKind::kRms, 1e-6},
               {.dtype = DType::kQ5_0,
                .value_dtype = DType::kQ8_0,
                .rotary_dim = 256,
                .head_norms = true,
                .own_values = true}),
          Case({33}, {100}, 64, {3, 3, 16},
               {.dtype = DType::kQ4_1,
                .value_dtype = DType::kF32,
                .rotary_dim = 16,
                .own_values = true})};
}

}  // namespace

const OpRecord& LinearRopeKv() {
  static const OpRecord record = {
      .name = "linear_rope_kv",
      .doc =
          "y = norm(x) W^T + bias holds the heads of q, k and v, v by value_w where it is given; "
          "then rope_kv: in y the heads of q are normalised and rotated, k and v go to the cache.",
      .inputs = {{"x"},
                 {.name = "w", .form = ConstantForm::kPanels},
                 {.name = "bias", .optional = true},
                 {.name = "gamma", .optional = true},
                 {.name = "beta", .optional = true},
                 {.name = "value_w", .optional = true, .form = ConstantForm::kPanels},
                 {.name = "angles", .optional = true},
                 {"layout", ValueType::Kind::kLayout},
                 {"cache", ValueType::Kind::kKvCache},
                 {.name = "q_gamma", .optional = true},
                 {.name = "k_gamma", .optional = true}},
      .outputs = {"y", "cache"},
      .attributes = DescribeAttributes<LinearRopeKvAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = CostOfProducts,
      .lower = Lower,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
