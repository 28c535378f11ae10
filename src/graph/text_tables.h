// Words of the graph's text form, shared by its writer and its reader.
#pragma once

#include <string_view>

#include "src/graph/graph.h"

namespace tboost::text {

// Characters of a name that needs no quotes.
constexpr bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

// A tensor is named by its element type instead.
struct KindName {
  ValueType::Kind kind;
  std::string_view name;
};
inline constexpr KindName kKinds[] = {{ValueType::Kind::kLayout, "layout"},
                                      {ValueType::Kind::kKvCache, "kv_cache"}};

struct RecipeName {
  Recipe::Kind kind;
  std::string_view name;
};
inline constexpr RecipeName kRecipes[] = {
    {Recipe::Kind::kFile, "file"},
    {Recipe::Kind::kInline, "inline"},
    {Recipe::Kind::kConcatRows, "concat"},
    {Recipe::Kind::kInterleaveRows, "interleave"},
    {Recipe::Kind::kRopeHalves, "rope_halves"},
    {Recipe::Kind::kCast, "cast"},
    {Recipe::Kind::kAddScalar, "add"},
};

}  // namespace tboost::text
