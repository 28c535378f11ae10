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

namespace tboost::kernels::TBOOST_ISA {
void gemm(const GemmArgs& args, int64_t task, Scratch scratch) {
  const Tile tile = MakeTile(args, task, scratch);
  const WeightFormat& format = FormatOf(args.weight_dtype);
  if (tile.rows.count <= kFewRows)
    RunFewRows(tile, format);
  else
    ManyRows(tile, format).Run();
}

}  // namespace tboost::kernels::TBOOST_ISA
