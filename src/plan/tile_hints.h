// Tiles of a model's products that were measured to be better than those computed: a member of the
// manifest (docs/formats/om.md).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/json.h"
#include "src/tensor/tile_hint.h"

namespace tboost {

struct TileHints {
  std::string cpu, isa;  // where they were measured: the processor's name, the kernels in use
  std::vector<TileHint> products;

  // The hints that hold there: all or none. A view of `products`.
  std::span<const TileHint> For(std::string_view cpu, std::string_view isa) const;
};

Json TileHintsToJson(const TileHints& hints);
// The manifest's member "tiles"; none where it is missing. kCorrupt where a tile is none of its
// product.
Result<TileHints> ReadTileHints(const Json& manifest, std::string_view name);

// "f32 128x768x768, 2 threads: tile 64x384".
std::string Describe(const TileHint& hint);

}  // namespace tboost
