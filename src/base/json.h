// JSON with limits, on nlohmann::json. Parsing never throws out of here.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "src/base/status.h"

namespace tboost {

using Json = nlohmann::json;
// With members in the order they were added.
using OrderedJson = nlohmann::ordered_json;

struct JsonLimits {
  size_t max_bytes = size_t{256} << 20;
  int max_depth = 64;
  bool allow_comments = false;        // // and /* */
  bool allow_duplicate_keys = false;  // a duplicate key is an error otherwise
};

// Parses `text`; `name` starts the message of a failure, which has the position.
Result<Json> ParseJson(std::string_view text, std::string_view name, const JsonLimits& limits = {});

// The member `key` of `object` as a T (bool, int64_t, double, std::string); `fallback` where absent
// or null; an error where of another type. Integers must be exact.
template <class T>
Result<T> JsonGet(const Json& object, std::string_view key, T fallback, std::string_view name);
// The same where the member must be there.
template <class T>
Result<T> JsonRequire(const Json& object, std::string_view key, std::string_view name);

}  // namespace tboost
