// The matrix product with packed weights: one task is a tile of rows and columns.
//
//   statistics of the rows' norm
//   for each block of k (all of k, of few rows)
//     for each group of panels
//       [decode them to f32, of many rows]
//       for each block of rows
//         [with the first panels: pack the rows' share of the block of k, normalised]
//         micro-kernel, into sums; meanwhile the next panels are fetched
//         [behind the last block of k: epilogue, into c]
#include "src/kernels/gemm/few_rows-inl.h"
#include "src/kernels/gemm/many_rows-inl.h"

#ifdef TBOOST_ISA_avx512_bf16

namespace tboost::kernels {
namespace avx512 {
void gemm(const GemmArgs& args, int64_t task, Scratch scratch);
}
namespace TBOOST_ISA {

// Pairs of bf16 are read as they are: few rows need no other way than many.
void gemm(const GemmArgs& args, int64_t task, Scratch scratch) {
  if (args.round_rows)
    ManyRows<BF16Words>(MakeTile(args, task, scratch), nullptr).Run();
  else
    avx512::gemm(args, task, scratch);
}

}  // namespace TBOOST_ISA
}  // namespace tboost::kernels

#else

namespace tboost::kernels::TBOOST_ISA {

void gemm(const GemmArgs& args, int64_t task, Scratch scratch) {
  const Tile tile = MakeTile(args, task, scratch);
  const WeightFormat& format = FormatOf(args.weight_dtype);
  // Decoding is saved by the way of many rows; where there is none to save, what counts is that it
  // multiplies faster.
  if (tile.rows.count <= (format.decode ? kFewRows : kFewRows / 2))
    RunFewRows(tile, format);
  else
    ManyRows<F32Words>(tile, &format).Run();
}

}  // namespace tboost::kernels::TBOOST_ISA

#endif
