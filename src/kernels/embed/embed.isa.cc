#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"
#include "src/tensor/panel.h"

namespace tboost::kernels::TBOOST_ISA {

// A row goes back to its storage format first, so that its values are those the format defines.
void embed(const EmbedArgs& args, int64_t task, Scratch scratch) {
  const RowRange tokens = RowsOfTask(task, args.tokens, args.k);
  for (int64_t token = tokens.first; token < tokens.end; ++token) {
    float* out = args.out + token * args.ldo;
    UnpackPanels(args.dtype, args.panels, args.ids[token], 1, args.k, scratch.data);
    DequantizeRow(args.dtype, scratch.data, args.k, out);
    for (int64_t i = 0; i < args.k; ++i) out[i] *= args.scale;
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
