// Tests of passes: graphs as text before and after, and the proof that both compute the same.
#pragma once

#include <string>

#include "src/passes/pass.h"

namespace tboost {

// Parses `text` with the built-in operators; a failure is a test failure and gives an empty graph.
Graph GraphFromText(const std::string& text);

// Runs `pass` on `before` and expects the text `after`, and equal results of both on random rows
// with outlier channels (reference interpreter; file recipes read random floats).
void ExpectRewritten(const Pass& pass, const std::string& before, const std::string& after);

// Expects that `pass` changes nothing and reports `reason` (of some node); "": reports nothing.
void ExpectKept(const Pass& pass, const std::string& text, const std::string& reason);

// Expects equal results of two graphs with the same inputs and outputs.
void ExpectSameResults(const Graph& before, const Graph& after);

}  // namespace tboost
