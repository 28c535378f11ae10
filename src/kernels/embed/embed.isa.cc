#include "src/kernels/embed/embed_tasks.h"
#include "src/kernels/simd/simd.h"
#include "src/tensor/panel.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

const float* PlainRow(const EmbedArgs& args, int32_t id) {
  const auto* panels = static_cast<const float*>(args.panels);
  return panels + id / kPanelColumns * args.k * kPanelColumns + id % kPanelColumns;
}

// A row of f32. Its elements lie a line apart: those of the next row are fetched meanwhile.
void EmbedPlain(const EmbedArgs& args, const float* row, const float* next, float* out) {
  for (int64_t i = 0; i < args.k; ++i) {
    Prefetch(next + i * kPanelColumns);
    out[i] = row[i * kPanelColumns] * args.scale;
  }
}

}  // namespace

void embed(const EmbedArgs& args, int64_t task, Scratch scratch) {
  const RowRange tokens = RowsOfTask(task, args.tokens, EmbedRowFloats(args.k));
  for (int64_t token = tokens.first; token < tokens.end; ++token) {
    float* out = args.out + token * args.ldo;
    if (args.dtype == DType::kF32) {
      const int64_t next = token + 1 < tokens.end ? token + 1 : token;
      EmbedPlain(args, PlainRow(args, args.ids[token]), PlainRow(args, args.ids[next]), out);
      continue;
    }
    // Back to its storage format first, so that its values are those the format defines.
    UnpackPanels(args.dtype, args.panels, args.ids[token], 1, args.k, scratch.data);
    DequantizeRow(args.dtype, scratch.data, args.k, out);
    for (int64_t i = 0; i < args.k; ++i) out[i] *= args.scale;
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
