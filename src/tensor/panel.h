// Packed weights: one layout for every instruction set, also the layout of embeddings (rows are
// gathered from panels, so a tied table is stored once).
//
// A weight W of n output columns and k inputs (a row-major [n, k] matrix in files) is cut into
// panels of 16 columns; the last one is padded with zeros. Inside a panel k ascends:
//   f32        [k][16]
//   f16, bf16  [k/2][16][2]: pairs of k side by side; an odd k is padded with zeros
//   q8_0       32 k: d[16] f16, [8][16] words of 4 signed codes (k, k+1, k+2, k+3)
//   q4_0       32 k: d[16] f16, [4][16] words of 8 codes of 4 bits (k lowest)
//   q4_1       32 k: d[16] f16, m[16] f16, codes as q4_0
//   q5_0       32 k: d[16] f16, [16] words of the lowest bits, [4][16] words of the other bits, as
//              q4_0; the lowest bits of the eight codes of word w, k even and odd, are bits 2w and
//              2w + 1 of the four bytes
//   q4_k       256 k: d[16] f16, dmin[16] f16, scale[8][16] u8, min[8][16] u8, [32][16] words as
//              q4_0
//   q6_k       256 k: d[16] f16, scale[16][16] i8, [16][3][16] words: of 16 codes the first twelve
//              are the low 6 bits of the bytes, k lowest; the top 2 bits of the bytes are the last
//              four, from the lowest 2 bits in the first word to the highest in the third
//   int8, int7 scale[16] f32, sum[16] i32 (of codes), [k/4][16] words as q8_0, unsigned: code + 128
//              or code + 64; k is padded with code 0
// GGUF blocks keep their codes: packing and unpacking are exact inverses.
#pragma once

#include <cstdint>
#include <optional>

#include "src/tensor/dtype.h"

namespace tboost {

inline constexpr int kPanelColumns = 16;

// Bytes of one panel, and of all ceil(n / 16) panels. nullopt: k is no multiple of the block,
// overflow, or an integer type, which has no panels.
std::optional<uint64_t> PanelBytes(DType dtype, int64_t k);
std::optional<uint64_t> PackedBytes(DType dtype, int64_t n, int64_t k);

// The functions below trust their arguments: sizes that the two above have answered, buffers that
// hold them. Row data may lie at any address; panels are aligned to 4 bytes.

// Packs `rows` rows of storage format `dtype` (contiguous, k elements each) as columns 0..rows-1 of
// the panels at `panels` (whole panels: the missing columns of the last one become zero).
void PackPanels(DType dtype, const void* row_data, int64_t rows, int64_t k, void* panels);

// The inverse: rows [first, first + rows) in their storage format.
void UnpackPanels(DType dtype, const void* panels, int64_t first, int64_t rows, int64_t k,
                  void* row_data);

// One row of a storage format as f32, exactly as the format defines it.
void DequantizeRow(DType dtype, const void* row, int64_t k, float* out);
// f32 to a plain type (f32, f16, bf16; round to nearest even, saturating to infinity as IEEE does)
// or to int8 and int7: scale = largest magnitude / largest code, each code to nearest even. A row
// that is not finite has a scale that is none.
void ConvertRow(const float* row, int64_t k, DType dtype, void* out);

}  // namespace tboost
