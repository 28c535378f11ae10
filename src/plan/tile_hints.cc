#include "src/plan/tile_hints.h"

#include <fmt/format.h>

#include "src/base/checked.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

constexpr char kTiles[] = "tiles";
constexpr size_t kMostHints = 4096;
constexpr int64_t kMostSize = int64_t{1} << 31;  // of anything counted

// All members but the weights' format.
template <class Hint, class V>
void VisitFields(Hint& hint, V&& v) {
  v("gated", hint.product.gated);
  v("round_rows", hint.product.round_rows);
  v("threads", hint.product.threads);
  v("m", hint.product.m);
  v("n", hint.product.n);
  v("k", hint.product.k);
  v("tile_m", hint.tile_m);
  v("tile_n", hint.tile_n);
}

Result<TileHint> ReadHint(const Json& json, const std::string& name) {
  if (!json.is_object()) return CorruptError("{}: a hint is no object", name);
  TBOOST_ASSIGN_OR_RETURN(const auto weights, JsonRequire<std::string>(json, "weights", name));
  const std::optional<DType> dtype = DTypeFromName(weights);
  if (!dtype) return CorruptError("{}: no type {}", name, weights);
  TileHint hint;
  hint.product.weights = *dtype;
  hint.stored = true;
  Status status;
  VisitFields(hint, [&]<class T>(std::string_view field, T& value) {
    if (!status.ok()) return;
    const Result<T> read = JsonRequire<T>(json, field, name);
    status = read.status();
    if (read.ok()) value = *read;
    if constexpr (std::is_same_v<T, int64_t>)
      if (read.ok() && (value < 1 || value > kMostSize))
        status = CorruptError("{}: {} is {}, expected 1 to {}", name, field, value, kMostSize);
  });
  TBOOST_RETURN_IF_ERROR(status);
  const ProductKey& product = hint.product;
  const uint64_t unit = uint64_t{kPanelColumns} * (product.gated ? 2 : 1);
  const auto tile_n = static_cast<uint64_t>(hint.tile_n);
  if (hint.tile_m > product.m || tile_n % unit != 0 ||
      tile_n > RoundUp(static_cast<uint64_t>(product.n), unit))
    return CorruptError("{}: {}: expected at most {} rows and columns in multiples of {}", name,
                        Describe(hint), product.m, unit);
  return hint;
}

}  // namespace

std::span<const TileHint> TileHints::For(std::string_view at_cpu, std::string_view at_isa) const {
  if (cpu != at_cpu || isa != at_isa) return {};
  return products;
}

Json TileHintsToJson(const TileHints& hints) {
  Json products = Json::array();
  for (const TileHint& hint : hints.products) {
    Json json = {{"weights", DTypeName(hint.product.weights)}};
    VisitFields(hint, [&](const char* field, const auto& value) { json[field] = value; });
    products.push_back(std::move(json));
  }
  return {{"cpu", hints.cpu}, {"isa", hints.isa}, {"products", std::move(products)}};
}

Result<TileHints> ReadTileHints(const Json& manifest, std::string_view file) {
  TileHints hints;
  if (!manifest.is_object() || !manifest.contains(kTiles)) return hints;
  const Json& json = manifest.at(kTiles);
  const std::string name = fmt::format("{}: manifest: {}", file, kTiles);
  if (!json.is_object() || !json.contains("products") || !json.at("products").is_array() ||
      json.at("products").size() > kMostHints)
    return CorruptError("{}: expected at most {} products", name, kMostHints);
  TBOOST_ASSIGN_OR_RETURN(hints.cpu, JsonRequire<std::string>(json, "cpu", name));
  TBOOST_ASSIGN_OR_RETURN(hints.isa, JsonRequire<std::string>(json, "isa", name));
  for (const Json& product : json.at("products")) {
    TBOOST_ASSIGN_OR_RETURN(TileHint hint, ReadHint(product, name));
    hints.products.push_back(hint);
  }
  return hints;
}

std::string Describe(const TileHint& hint) {
  const ProductKey& p = hint.product;
  return fmt::format("{} {}x{}x{}{}{}, {} threads: tile {}x{}", DTypeName(p.weights), p.m, p.n, p.k,
                     p.gated ? " gated" : "", p.round_rows ? " of rounded rows" : "", p.threads,
                     hint.tile_m, hint.tile_n);
}

}  // namespace tboost
