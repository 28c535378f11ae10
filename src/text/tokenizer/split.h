// Cutting spans at matches.
#pragma once

#include <optional>

#include "src/base/status.h"
#include "src/text/tokenizer/pattern.h"
#include "src/text/tokenizer/pieces.h"

namespace tboost {

// What becomes of the matches.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

std::optional<SplitBehavior> SplitBehaviorFromName(std::string_view name);

// Cuts each open span of `pieces` at the matches of `pattern`; `invert` makes the text between the
// matches the matches.
Status Split(const Pattern& pattern, SplitBehavior behavior, bool invert, Pieces* pieces);

}  // namespace tboost
