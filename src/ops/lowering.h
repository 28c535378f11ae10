// From views to kernel arguments.
#pragma once

#include <algorithm>
#include <string_view>

#include "src/graph/op_record.h"
#include "src/kernels/kernels.h"

namespace tboost {

inline const float* Floats(const TensorView& view) { return view.as<const float>(); }
inline float* MutableFloats(const TensorView& view) { return view.as<float>(); }

// A call of a kernel of the table, cut into tasks as the kernel says.
template <class Args>
KernelCall CallKernel(std::string_view name, void (*kernel)(const Args&, int64_t, kernels::Scratch),
                      const Args& args) {
  return MakeKernelCall(name, kernel, args, kernels::Tasks, kernels::ScratchBytes);
}

// The scratch size of functions that need none.
template <class Args>
size_t NoScratch(const Args&) {
  return 0;
}

// The product of a linear operator: x, w and bias are inputs 0, 1 and 2, c is output 0.
inline kernels::GemmArgs MakeGemmArgs(const LowerContext& context) {
  const TensorView &x = context.inputs[0], &w = context.inputs[1], &c = context.outputs[0];
  kernels::GemmArgs args;
  args.m = x.rows();
  args.n = w.shape[0];
  args.k = w.shape[1];
  args.a = Floats(x);
  args.lda = x.stride();
  args.weight_dtype = w.dtype;
  args.panels = w.data;
  args.bias = Floats(context.inputs[2]);
  args.c = MutableFloats(c);
  args.ldc = c.stride();
  return args;
}

// Whether a composition of kernels may multiply with weights of this format: by the gemm kernel.
inline bool IsComposable(DType weights) { return Info(weights).row_bytes == 0; }

// Completes a call that multiplies with input 1, in whatever kernel: what it streams, the type its
// multiply-adds have, and a line of how it was chosen.
inline void DescribeProduct(const LowerContext& context, const kernels::GemmArgs& product,
                            std::string_view cut, KernelCall& call) {
  const TensorView& w = context.inputs[1];
  call.stream = w.as<const char>();
  call.stream_bytes =
      static_cast<int64_t>(PackedBytes(w.dtype, w.shape[0], w.shape[1]).value_or(0));
  if (!IsComposable(product.weight_dtype))
    call.compute = DType::kI8;
  else if (product.round_rows && product.weight_dtype == DType::kBF16)
    call.compute = DType::kBF16;
  call.detail = fmt::format("{}, {} weights, {}", cut, DTypeName(product.weight_dtype),
                            context.kernels->name);
}

// Sets the product's tile.
template <class Args>
TileHint ChooseTile(const LowerContext& context, Args& args) {
  kernels::ChooseTile(args, context.threads, context.l2_bytes, context.tiles.rank);
  const ProductKey product = {
      args.weight_dtype, args.gated, args.round_rows, context.threads, args.m, args.n, args.k};
  const std::span<const TileHint> hints = context.tiles.hints;
  const auto hint = std::ranges::find(hints, product, &TileHint::product);
  if (hint != hints.end()) {
    args.tile_m = hint->tile_m;
    args.tile_n = hint->tile_n;
  }
  return {product, args.tile_m, args.tile_n, hint != hints.end()};
}

// Completes the call of a product with that tile, or one near it.
inline void DescribeTiled(const LowerContext& context, const kernels::GemmArgs& product,
                          const TileHint& tile, KernelCall& call) {
  DescribeProduct(
      context, product,
      fmt::format("tile {}x{}{}", product.tile_m, product.tile_n, tile.stored ? " from hint" : ""),
      call);
  call.tile = tile;
}

template <class Args>
KernelCall CallProduct(const LowerContext& context, std::string_view name,
                       void (*kernel)(const Args&, int64_t, kernels::Scratch), Args args) {
  const TileHint tile = ChooseTile(context, args);
  KernelCall call = CallKernel(name, kernel, args);
  DescribeTiled(context, args, tile, call);
  return call;
}

// The kernel for the format of the weights.
inline KernelCall CallGemm(const LowerContext& context, const kernels::GemmArgs& args) {
  if (IsComposable(args.weight_dtype))
    return CallProduct(context, "gemm", context.kernels->gemm, args);
  return CallProduct(context, "gemm_int8", context.kernels->gemm_int8, kernels::GemmInt8Args{args});
}

// Rows of a norm from input 0 to output 0.
inline kernels::NormArgs MakeNormArgs(const LowerContext& context, kernels::Norm norm) {
  const TensorView &x = context.inputs[0], &out = context.outputs[0];
  kernels::NormArgs args;
  args.m = x.rows();
  args.k = x.shape.back();
  args.x = Floats(x);
  args.ldx = x.stride();
  args.norm = norm;
  args.out = MutableFloats(out);
  args.ldo = out.stride();
  return args;
}

// Heads of each row of input 0, to output 0: normalised or rotated as the caller adds.
inline kernels::RopeKvArgs MakeHeadsArgs(const LowerContext& context, int64_t heads,
                                         int64_t head_dim) {
  const TensorView &x = context.inputs[0], &out = context.outputs[0];
  kernels::RopeKvArgs args;
  args.q = Floats(x);
  args.ldq = x.stride();
  args.q_out = MutableFloats(out);
  args.ldq_out = out.stride();
  args.heads = static_cast<int>(heads);
  args.head_dim = static_cast<int>(head_dim);
  args.tokens = x.rows();
  return args;
}

inline void SetAngles(const TensorView& angles, kernels::RopeKvArgs& args) {
  args.angles = Floats(angles);
  args.ldangles = angles.stride();
  args.rotary_dim = static_cast<int>(angles.shape.back());
}

}  // namespace tboost
