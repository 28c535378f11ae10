// The small matrix products of attention, all in one form. Included by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

// Rows of memory that will be read soon, asked for while something else is computed: the processor
// does not foresee where they lie.
struct Ahead {
  const char* data = nullptr;
  int64_t stride = 0, rows = 0, bytes = 0;

  TBOOST_INLINE void Touch(int64_t row) const {
    if (row >= rows) return;
    const char* const p = data + row * stride;
    for (int64_t at = 0; at < bytes; at += 64) Prefetch(p + at);
  }
  TBOOST_INLINE void TouchAll() const {
    for (int64_t row = 0; row < rows; ++row) Touch(row);
  }
};

// c(r, v) = sum over i of a(r, i) * b(i, v), each element one chain over ascending i from 0, where
// a(r, i) is a number and b(i, v), c(r, v) are vectors. With factors, the old c takes part:
// c(r, v) = sum * new_factor(r, v) + c(r, v) * old_factor(r, v).
struct Product {
  const float* a;
  int64_t a_row, a_step;
  const float* b;
  int64_t ldb;
  int64_t steps;
  float* c;
  int64_t ldc;
  const float *old_factor = nullptr, *new_factor = nullptr;
  int64_t factor_row = 0, factor_vector = 0;
  // Masked products: lane l of c takes part in the steps [begin[l], end[l]) only, whose inner part
  // [all_begin, all_end) is that of every lane.
  const float *begin = nullptr, *end = nullptr;
  int64_t all_begin = 0, all_end = 0;
  // Touched in as many parts as c has rows, each before one of them is computed.
  Ahead ahead = {};
  int64_t ahead_rows = 0;  // of such a part
};

// Accumulators that fit beside the operands, and rows of the largest tile.
inline constexpr int kTileVectors = kVectorRegisters / kParts * 3 / 4;
inline constexpr int kTileRows = kTileVectors >= 6 ? 6 : 2;

template <int kRows, int kVectors>
using Accumulators = F32x16[kRows][kVectors];

// A tile of accumulators and the loops over it, unrolled so that it stays in registers.
template <int kRows, int kVectors>
struct Tile {
  F32x16 acc[kRows][kVectors];

  template <class Body>
  TBOOST_INLINE void ForEach(const Body& body) {
    Unroll<kRows>([&](auto r) TBOOST_INLINE_LAMBDA {
      Unroll<kVectors>([&](auto v) TBOOST_INLINE_LAMBDA { body(r, v, acc[r][v]); });
    });
  }

  // Steps [from, to) of p.
  template <bool kMasked>
  TBOOST_INLINE void Add(const Product& p, const float* a, const float* b, int64_t from,
                         int64_t to) {
    a += from * p.a_step;
    b += from * p.ldb;
    for (int64_t i = from; i < to; ++i, a += p.a_step, b += p.ldb) {
      F32x16 vectors[kVectors];
      for (int v = 0; v < kVectors; ++v) vectors[v] = Load(b + v * 16);
      Mask16 mask;
      if constexpr (kMasked) {
        const F32x16 step = Set1(static_cast<float>(i));
        mask = LessEqual(Load(p.begin), step) & Less(step, Load(p.end));
      }
      Unroll<kRows>([&](auto r) TBOOST_INLINE_LAMBDA {
        const F32x16 scalar = Set1(a[r * p.a_row]);
        Unroll<kVectors>([&](auto v) TBOOST_INLINE_LAMBDA {
          const F32x16 sum = Fma(scalar, vectors[v], acc[r][v]);
          if constexpr (kMasked) {
            acc[r][v] = Select(mask, sum, acc[r][v]);
          } else {
            acc[r][v] = sum;
          }
        });
      });
    }
  }
};

template <bool kMasked, int kRows, int kVectors>
[[gnu::noinline]] void ProductTile(const Product& p, int64_t row, int64_t vector) {
  if (vector == 0) {
    for (int64_t r = 0; r < kRows * p.ahead_rows; ++r) p.ahead.Touch(row * p.ahead_rows + r);
  }
  const float *a = p.a + row * p.a_row, *b = p.b + vector * 16;
  Tile<kRows, kVectors> tile;
  tile.ForEach([&](auto, auto, F32x16& acc) TBOOST_INLINE_LAMBDA { acc = Zero(); });
  if constexpr (kMasked) {
    tile.template Add<true>(p, a, b, 0, p.all_begin);
    tile.template Add<false>(p, a, b, p.all_begin, p.all_end);
    tile.template Add<true>(p, a, b, p.all_end, p.steps);
  } else {
    tile.template Add<false>(p, a, b, 0, p.steps);
  }
  float* const c = p.c + row * p.ldc + vector * 16;
  if (p.old_factor) {
    const int64_t at = row * p.factor_row + vector * p.factor_vector;
    tile.ForEach([&](auto r, auto v, F32x16& acc) TBOOST_INLINE_LAMBDA {
      const int64_t factor = at + r * p.factor_row + v * p.factor_vector;
      acc = Fma(acc, Load(p.new_factor + factor),
                Load(c + r * p.ldc + v * 16) * Load(p.old_factor + factor));
    });
  }
  tile.ForEach([&](auto r, auto v, F32x16& acc)
                   TBOOST_INLINE_LAMBDA { Store(acc, c + r * p.ldc + v * 16); });
}

// kRows rows from `row` on, in tiles as wide as registers allow.
template <bool kMasked, int kRows>
TBOOST_INLINE void ProductRows(const Product& p, int64_t row, int64_t vectors) {
  constexpr int kWide = kMasked || kTileVectors / kRows < 2 ? 1 : kTileVectors / kRows < 4 ? 2 : 4;
  int64_t v = 0;
  for (; v + kWide <= vectors; v += kWide) ProductTile<kMasked, kRows, kWide>(p, row, v);
  if constexpr (kWide == 4) {
    if (v + 2 <= vectors) ProductTile<false, kRows, 2>(p, row, v), v += 2;
  }
  if constexpr (kWide > 1) {
    if (v < vectors) ProductTile<false, kRows, 1>(p, row, v);
  }
}

// Rows [0, rows) and vectors [0, vectors) of p.
template <bool kMasked = false>
inline void Multiply(Product& p, int64_t rows, int64_t vectors) {
  p.ahead_rows = (p.ahead.rows + rows - 1) / rows;
  int64_t row = 0;
  // 7 and 8 rows make two tiles of about one size: one or two rows alone wait for their own sums.
  for (int64_t left = rows; left >= kTileRows; left = rows - row) {
    if (kTileRows > 4 && (left == 7 || left == 8)) break;
    ProductRows<kMasked, kTileRows>(p, row, vectors);
    row += kTileRows;
  }
  if constexpr (kTileRows > 4) {
    for (; row + 4 <= rows; row += 4) ProductRows<kMasked, 4>(p, row, vectors);
  }
  if constexpr (kTileRows > 3) {
    if (row + 3 <= rows) ProductRows<kMasked, 3>(p, row, vectors), row += 3;
  }
  if (row + 2 <= rows) ProductRows<kMasked, 2>(p, row, vectors), row += 2;
  if (row < rows) ProductRows<kMasked, 1>(p, row, vectors);
}

}  // namespace tboost::kernels::TBOOST_ISA
