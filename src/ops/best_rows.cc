#include "src/ops/best_rows.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/ops/lowering.h"

namespace tboost::ops {
namespace {

constexpr int64_t kColumns = 1024;  // multiplied at a time: few enough to stay in cache

struct BestRowsArgs {
  kernels::GemmArgs product;
  BestRows best;
  const kernels::KernelTable* kernels;
};

int64_t CountTasks(const BestRowsArgs& args) { return args.best.parts; }

// Whole panels, as even as can be.
int64_t FirstColumn(const BestRowsArgs& args, int64_t part) {
  const int64_t panels = (args.product.n + kPanelColumns - 1) / kPanelColumns;
  return std::min(args.product.n, panels * part / args.best.parts * kPanelColumns);
}

// The columns being multiplied, then what the product needs.
size_t ColumnsBytes(const BestRowsArgs& args) {
  return static_cast<size_t>(args.product.m * kColumns) * sizeof(float);
}
size_t CountScratch(const BestRowsArgs& args) {
  kernels::GemmArgs slice = args.product;
  slice.tile_m = slice.m;
  slice.tile_n = kColumns;
  return ColumnsBytes(args) + kernels::ScratchBytes(slice);
}

void RunTask(const BestRowsArgs& args, int64_t part, kernels::Scratch scratch) {
  const size_t used = ColumnsBytes(args);
  const kernels::Scratch rest{scratch.data + used, scratch.bytes - used};
  const int64_t row_candidates = args.best.parts * args.best.count;
  Candidate* out = args.best.out + part * args.best.count;
  for (int64_t r = 0; r < args.product.m; ++r)
    std::fill_n(out + r * row_candidates, args.best.count, Candidate());
  const int64_t end = FirstColumn(args, part + 1);
  for (int64_t column = FirstColumn(args, part); column < end; column += kColumns) {
    const int64_t columns = std::min(kColumns, end - column);
    kernels::GemmArgs slice =
        kernels::SliceGemm(args.product, {0, args.product.m, column, columns});
    slice.c = reinterpret_cast<float*>(scratch.data);
    slice.ldc = kColumns;
    args.kernels->gemm(slice, 0, rest);
    kernels::BestArgs best;
    best.m = slice.m;
    best.n = columns;
    best.x = slice.c;
    best.ldx = slice.ldc;
    best.first_id = static_cast<int32_t>(column);
    best.count = args.best.count;
    best.out = out;
    best.ldo = row_candidates;
    for (int64_t i = 0; i < kernels::Tasks(best); ++i) args.kernels->best(best, i, rest);
  }
}

}  // namespace

Result<KernelCall> CallBestRows(const LowerContext& context, const kernels::GemmArgs& product) {
  if (product.gated) return UnsupportedError("the best of a gated product");
  if (!IsComposable(product.weight_dtype))
    return UnsupportedError("the best of a product with {} weights",
                            DTypeName(product.weight_dtype));
  BestRowsArgs args = {product, *context.best, context.kernels};
  kernels::ChooseTile(args.product, context.threads, context.l2_bytes);
  KernelCall call = MakeKernelCall("gemm+best", RunTask, args, CountTasks, CountScratch);
  DescribeProduct(context, product,
                  fmt::format("best {} of {} columns", args.best.count, product.n), call);
  return call;
}

}  // namespace tboost::ops
