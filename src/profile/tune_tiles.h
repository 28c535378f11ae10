// Tiles by measurement: where the model of a tile's cost errs.
#pragma once

#include <cstdint>
#include <vector>

#include "src/plan/om_model.h"
#include "tboost/model.h"

namespace tboost {

struct TunedTiles {
  TileHints hints;            // tiles that beat the computed ones on this machine
  std::vector<double> gains;  // of each: the share of the time that it saves
  size_t products = 0;        // measured, each number of rows a product of its own
  // Tokens of the steps that were measured, and of those for which the time did not suffice.
  std::vector<int64_t> measured, left;
};

// Runs steps of 1, 16, 128 tokens and of as many as the model takes at a time, on the threads of
// its runtime: by turns with the tiles that a model of their cost finds best, then with the fastest
// of each product against the computed ones; those that win again are the hints. Takes about
// `seconds`; `progress` gets milliseconds. Nothing else may run on the model meanwhile.
Result<TunedTiles> TuneTiles(const Model& model, double seconds, const Progress& progress);

}  // namespace tboost
