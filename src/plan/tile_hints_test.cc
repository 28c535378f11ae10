#include "src/plan/tile_hints.h"

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;

TileHints Sample() {
  return {"Some CPU",
          "avx2",
          {{{DType::kF32, false, false, 2, 128, 768, 768}, 64, 384, true},
           {{DType::kQ4_1, true, false, 4, 1, 40, 64}, 1, 64, true}}};
}

TEST(TileHints, AreReadAsTheyWereWritten) {
  const Json manifest = {{"tiles", TileHintsToJson(Sample())}};
  const Result<TileHints> hints = ReadTileHints(manifest, "m.om");
  ASSERT_TRUE(hints.ok()) << hints.status().message();
  EXPECT_EQ(TileHintsToJson(*hints), manifest.at("tiles"));
  EXPECT_EQ(Describe(hints->products[1]), "q4_1 1x40x64 gated, 4 threads: tile 1x64");
  EXPECT_TRUE(hints->products[0].stored);
}

TEST(TileHints, HoldWhereTheyWereMeasured) {
  const TileHints hints = Sample();
  EXPECT_EQ(hints.For("Some CPU", "avx2").size(), 2u);
  EXPECT_TRUE(hints.For("Some CPU", "avx512").empty());
  EXPECT_TRUE(hints.For("Another CPU", "avx2").empty());
  EXPECT_TRUE(ReadTileHints(Json::object(), "m.om")->products.empty());
}

TEST(TileHints, WhatIsNoTileIsRefused) {
  const std::pair<const char*, Json> lies[] = {
      {"tile_m", 129}, {"tile_m", 0},           {"tile_n", 784},
      {"tile_n", 24},  {"tile_n", -16},         {"tile_n", 0},
      {"m", 0},        {"n", int64_t{1} << 40}, {"k", "many"},
      {"threads", 0},  {"weights", "f33"},      {"gated", 1},
      {"tile_m", 1.5}, {"threads", false},      {"round_rows", Json()}};
  for (const auto& [field, value] : lies) {
    Json tiles = TileHintsToJson(Sample());
    tiles["products"][0][field] = value;
    EXPECT_THAT(ReadTileHints({{"tiles", tiles}}, "m.om"),
                FailsWith(StatusCode::kCorrupt, "m.om: manifest: tiles: "))
        << field << " " << value;
  }
  Json gated = TileHintsToJson(Sample());
  gated["products"][1]["tile_n"] = 48;
  EXPECT_FALSE(ReadTileHints({{"tiles", gated}}, "m.om").ok()) << "gate and up belong together";
  for (const Json& tiles : {Json(1), Json({{"products", 1}}), Json({{"products", {1}}})})
    EXPECT_FALSE(ReadTileHints({{"tiles", tiles}}, "m.om").ok()) << tiles;
  Json many = TileHintsToJson(Sample());
  while (many["products"].size() <= 4096) many["products"].push_back(many["products"][0]);
  EXPECT_FALSE(ReadTileHints({{"tiles", many}}, "m.om").ok());
}

}  // namespace
}  // namespace tboost
