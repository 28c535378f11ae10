#include "src/base/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "src/base/file.h"
#include "src/base/system_text.h"
#include "src/base/utf8.h"

namespace tboost {
namespace {

struct Unit {
  std::string_view name;  // lower case
  double factor;
};

constexpr Unit kByteUnits[] = {
    {"b", 1},           {"kb", 1e3},           {"mb", 1e6},
    {"gb", 1e9},        {"tb", 1e12},          {"kib", 1024.0},
    {"mib", 1048576.0}, {"gib", 1073741824.0}, {"tib", 1099511627776.0},
};
constexpr Unit kTimeUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  return lower;
}

// A finite, non-negative number followed by one of `units` and `suffix`. Without a unit the factor
// is `bare_factor`; 0 asks for a unit.
std::optional<double> ParseQuantity(std::string_view text, std::span<const Unit> units,
                                    std::string_view suffix, double bare_factor) {
  const std::string lower = LowerCase(Trimmed(text));
  double number = 0;
  const char* const end = lower.data() + lower.size();
  const auto [rest, error] = std::from_chars(lower.data(), end, number);
  if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  std::string_view unit = Trimmed({rest, static_cast<size_t>(end - rest)});
  if (unit.empty()) return bare_factor > 0 ? std::optional(number * bare_factor) : std::nullopt;
  if (!unit.ends_with(suffix)) return std::nullopt;
  unit.remove_suffix(suffix.size());
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) return std::nullopt;
  return number * found->factor;
}

Status Refused(std::string_view what, std::string_view accepted, std::string_view text) {
  return InvalidArgumentError("not {}: \"{}\"; accepted are {}", what,
                              ShortenUtf8(ReplaceInvalidUtf8(text), 60), accepted);
}

// The member `key` as text; nullopt where absent.
Result<std::optional<std::string>> MemberText(const Json& object, std::string_view key,
                                              std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(std::string text, JsonGet<std::string>(object, key, {}, name));
  if (!object.contains(key) || object[key].is_null()) return std::optional<std::string>();
  return std::optional(std::move(text));
}

template <class T>
Result<T> ConfigQuantity(const Json& object, std::string_view key, T fallback,
                         std::string_view name, Result<T> (*parse)(std::string_view)) {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<std::string> text, MemberText(object, key, name));
  if (!text) return fallback;
  Result<T> value = parse(*text);
  if (!value.ok()) return value.status().WithContext(fmt::format("{}: \"{}\"", name, key));
  return value;
}

}  // namespace

Result<Json> ReadConfig(const std::string& path) {
  JsonLimits limits;
  limits.max_bytes = size_t{16} << 20;
  limits.allow_comments = true;
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits.max_bytes));
  return ParseJson(text, path, limits);
}

Result<uint64_t> ParseBytes(std::string_view text) {
  const std::optional<double> bytes = ParseQuantity(text, kByteUnits, "", 1);
  if (!bytes || *bytes >= 0x1p63)
    return Refused("a size", "a number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB, as in 1.5GiB",
                   text);
  return static_cast<uint64_t>(std::llround(*bytes));
}

Result<double> ParseBandwidth(std::string_view text) {
  const std::optional<double> rate = ParseQuantity(text, kByteUnits, "/s", 0);
  if (!rate)
    return Refused("a bandwidth", "a number and a unit of bytes per second, as in 900GB/s", text);
  return *rate;
}

Result<double> ParseDuration(std::string_view text) {
  const std::optional<double> seconds = ParseQuantity(text, kTimeUnits, "", 0);
  if (!seconds) return Refused("a duration", "a number and us, ms, s, min or h, as in 50ms", text);
  return *seconds;
}

Result<uint64_t> ConfigBytes(const Json& object, std::string_view key, uint64_t fallback,
                             std::string_view name) {
  if (object.is_object() && object.contains(key) && object[key].is_number()) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t bytes, JsonRequire<int64_t>(object, key, name));
    if (bytes < 0) return CorruptError("{}: \"{}\" must not be negative, got {}", name, key, bytes);
    return static_cast<uint64_t>(bytes);
  }
  return ConfigQuantity<uint64_t>(object, key, fallback, name, ParseBytes);
}

Result<double> ConfigBandwidth(const Json& object, std::string_view key, double fallback,
                               std::string_view name) {
  return ConfigQuantity<double>(object, key, fallback, name, ParseBandwidth);
}

Result<double> ConfigDuration(const Json& object, std::string_view key, double fallback,
                              std::string_view name) {
  return ConfigQuantity<double>(object, key, fallback, name, ParseDuration);
}

}  // namespace tboost
