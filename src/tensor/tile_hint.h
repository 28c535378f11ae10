// How a product is cut into tasks, and which products that was measured for.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "src/tensor/dtype.h"

namespace tboost {

// What a product's best tile depends on, on one processor.
struct ProductKey {
  DType weights = DType::kF32;
  bool gated = false, round_rows = false;  // as of kernels::GemmArgs
  int64_t threads = 1;
  int64_t m = 0, n = 0, k = 0;  // n counts the columns of W
  auto operator<=>(const ProductKey&) const = default;
};

struct TileHint {
  ProductKey product;
  int64_t tile_m = 0, tile_n = 0;  // rows and columns of a task; 0: of no product
  bool stored = false;             // measured, not computed
};

// How the tiles of products are chosen: as hints have it, of the others the one of this rank among
// those that a model of their cost finds best (kernels::ChooseTile).
struct TileChoice {
  std::span<const TileHint> hints = {};
  int rank = 0;
};

}  // namespace tboost
