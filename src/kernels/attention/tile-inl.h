// The register tile of attention: c (+)= a . b for a few rows, used for scores (q . k^T) and for
// outputs (weights . v) alike. Included by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/attention/attention_tasks.h"
#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

// b as `panels` columns of vectors: vector (k, panel) stands at data + k * k_stride + panel *
// panel_stride.
struct TileB {
  const float* data;
  int64_t k_stride;
  int64_t panel_stride;
  int64_t panels;
};

// Rows of a full tile: as many as keep the accumulators of one panel (more, where registers are
// many) in registers.
#if defined(TBOOST_ISA_baseline)
inline constexpr int kTileRows = 2, kTileVectors = 2;
#elif defined(TBOOST_ISA_avx2)
inline constexpr int kTileRows = 6, kTileVectors = 6;
#else
inline constexpr int kTileRows = 6, kTileVectors = 24;
#endif
static_assert(kTileRows <= kAttentionTileRows);

// One tile of kRows x kPanels vectors. Each element is one chain over ascending k, from c or from
// 0.
template <int kRows, int kPanels>
TBOOST_INLINE void TileStep(const float* a, int64_t lda, const float* b, const TileB& strides,
                            int64_t k, bool accumulate, float* c, int64_t ldc) {
  F32x16 acc[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      acc[r][p] = accumulate ? Load(c + r * ldc + p * 16) : Zero();
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    F32x16 column[kPanels];
    for (int p = 0; p < kPanels; ++p) {
      column[p] = Load(b + i * strides.k_stride + p * strides.panel_stride);
    }
    for (int r = 0; r < kRows; ++r) {
      const F32x16 scalar = Set1(a[r * lda + i]);
      for (int p = 0; p < kPanels; ++p) acc[r][p] = Fma(scalar, column[p], acc[r][p]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) Store(acc[r][p], c + r * ldc + p * 16);
  }
}

// c[r][16 * panel...] for all panels of b; c's rows have room for whole panels.
template <int kRows>
TBOOST_INLINE void Tile(const float* a, int64_t lda, const TileB& b, int64_t k, bool accumulate,
                        float* c, int64_t ldc) {
  constexpr int kWide = kTileVectors / kRows >= 4 ? 4 : kTileVectors / kRows >= 2 ? 2 : 1;
  int64_t panel = 0;
  for (; panel + kWide <= b.panels; panel += kWide) {
    TileStep<kRows, kWide>(a, lda, b.data + panel * b.panel_stride, b, k, accumulate,
                           c + panel * 16, ldc);
  }
  if constexpr (kWide > 2) {
    for (; panel + 2 <= b.panels; panel += 2) {
      TileStep<kRows, 2>(a, lda, b.data + panel * b.panel_stride, b, k, accumulate, c + panel * 16,
                         ldc);
    }
  }
  if constexpr (kWide > 1) {
    if (panel < b.panels) {
      TileStep<kRows, 1>(a, lda, b.data + panel * b.panel_stride, b, k, accumulate, c + panel * 16,
                         ldc);
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
