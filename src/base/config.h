// Configuration files: JSON with comments, and quantities written with their units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/json.h"

namespace tboost {

// The JSON of a configuration file of at most 16 MiB; // and /* */ comments allowed.
Result<Json> ReadConfig(const std::string& path);

// A number with an optional unit, white space between them allowed: "1GB", "1.5 GiB", "4096".
// B, KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024; case does not count. The value
// is rounded to whole bytes.
Result<uint64_t> ParseBytes(std::string_view text);
// Bytes per second: "900GB/s", "12.5 GiB/s"; the unit is required.
Result<double> ParseBandwidth(std::string_view text);
// Seconds: "50ms", "2s", "10us", "1min", "1h"; the unit is required.
Result<double> ParseDuration(std::string_view text);

// The member `key` of `object`: a string as above, or for bytes a whole number too; `fallback`
// where absent or null. `name` starts the message of an error.
Result<uint64_t> ConfigBytes(const Json& object, std::string_view key, uint64_t fallback,
                             std::string_view name);
Result<double> ConfigBandwidth(const Json& object, std::string_view key, double fallback,
                               std::string_view name);
Result<double> ConfigDuration(const Json& object, std::string_view key, double fallback,
                              std::string_view name);

}  // namespace tboost
