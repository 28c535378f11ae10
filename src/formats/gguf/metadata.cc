#include "src/formats/gguf/metadata.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/formats/quoted.h"

namespace tboost {
namespace {

constexpr int kMaxArrayDepth = 4;

struct TypeInfo {
  std::string_view name;
  uint64_t min_bytes;  // of one value; exact for numbers
};
// In the order of GgufType.
constexpr std::array<TypeInfo, 13> kTypes = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 8},
    {"array", 12},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

const TypeInfo& Info(GgufType type) { return kTypes[static_cast<size_t>(type)]; }

// Calls f with a zero of the C++ type that stores `type`, a number or bool (one byte in the file).
template <class F>
auto WithNumber(GgufType type, F f) {
  switch (type) {
    case GgufType::kI8:
      return f(int8_t{});
    case GgufType::kU16:
      return f(uint16_t{});
    case GgufType::kI16:
      return f(int16_t{});
    case GgufType::kU32:
      return f(uint32_t{});
    case GgufType::kI32:
      return f(int32_t{});
    case GgufType::kF32:
      return f(float{});
    case GgufType::kU64:
      return f(uint64_t{});
    case GgufType::kI64:
      return f(int64_t{});
    case GgufType::kF64:
      return f(double{});
    default:
      return f(uint8_t{});
  }
}

bool IsNumber(GgufType type) { return type != GgufType::kString && type != GgufType::kArray; }
bool IsFloat(GgufType type) { return type == GgufType::kF32 || type == GgufType::kF64; }

Result<GgufType> ReadType(ByteReader& reader, std::string_view context) {
  TBOOST_ASSIGN_OR_RETURN(const auto id, reader.Read<uint32_t>("a value's type"));
  if (id >= kTypes.size()) return CorruptError("{}: unknown value type {}", context, id);
  return static_cast<GgufType>(id);
}

// Moves over the payload of `array`, whose type and size are set.
Status SkipElements(const GgufArray& array, std::string_view context, int depth,
                    ByteReader& reader);

Result<GgufArray> ReadArray(ByteReader& reader, std::string_view context, int depth) {
  if (depth > kMaxArrayDepth)
    return CorruptError("{}: arrays nested deeper than {}", context, kMaxArrayDepth);
  GgufArray array;
  TBOOST_ASSIGN_OR_RETURN(array.type, ReadType(reader, context));
  TBOOST_ASSIGN_OR_RETURN(array.size, reader.Read<uint64_t>("an array's length"));
  if (array.size > reader.remaining() / Info(array.type).min_bytes)
    return CorruptError("{}: truncated: an array of {} {} values, {} bytes left", context,
                        array.size, Info(array.type).name, reader.remaining());
  ByteReader start = reader;
  TBOOST_RETURN_IF_ERROR(SkipElements(array, context, depth, reader));
  TBOOST_ASSIGN_OR_RETURN(array.payload,
                          start.ReadBytes(reader.offset() - start.offset(), "an array"));
  return array;
}

Status SkipElements(const GgufArray& array, std::string_view context, int depth,
                    ByteReader& reader) {
  if (IsNumber(array.type))
    return reader.ReadBytes(array.size * Info(array.type).min_bytes, "an array").status();
  for (uint64_t i = 0; i < array.size; ++i) {
    TBOOST_RETURN_IF_ERROR(array.type == GgufType::kString
                               ? reader.ReadString("a string").status()
                               : ReadArray(reader, context, depth + 1).status());
  }
  return OkStatus();
}

// Every element of a numeric array as an Out.
template <class Out>
std::vector<Out> Convert(const GgufArray& array) {
  return WithNumber(array.type, [&]<class Stored>(Stored value) {
    std::vector<Out> out;
    out.reserve(array.payload.size() / sizeof(Stored));
    for (size_t at = 0; at + sizeof(Stored) <= array.payload.size(); at += sizeof(Stored)) {
      std::memcpy(&value, array.payload.data() + at, sizeof(Stored));
      out.push_back(static_cast<Out>(value));
    }
    return out;
  });
}

Result<GgufValue> ReadValue(ByteReader& reader, std::string_view context) {
  GgufValue out;
  TBOOST_ASSIGN_OR_RETURN(out.type, ReadType(reader, context));
  if (out.type == GgufType::kString) {
    TBOOST_ASSIGN_OR_RETURN(out.value, reader.ReadString("a string"));
  } else if (out.type == GgufType::kArray) {
    TBOOST_ASSIGN_OR_RETURN(out.value, ReadArray(reader, context, 1));
  } else {
    TBOOST_RETURN_IF_ERROR(WithNumber(out.type, [&]<class Stored>(Stored) -> Status {
      TBOOST_ASSIGN_OR_RETURN(const Stored stored, reader.Read<Stored>("a value"));
      if (out.type == GgufType::kBool) {
        out.value = stored != 0;
      } else if constexpr (std::is_floating_point_v<Stored>) {
        out.value = static_cast<double>(stored);
      } else if constexpr (std::is_signed_v<Stored>) {
        out.value = static_cast<int64_t>(stored);
      } else {
        out.value = static_cast<uint64_t>(stored);
      }
      return OkStatus();
    }));
  }
  return out;
}

// The value as a T, where its kind allows and nothing is lost but float precision.
template <class T, class Held>
std::optional<T> ConvertTo(const Held& held) {
  constexpr bool kFromInteger = std::is_same_v<Held, int64_t> || std::is_same_v<Held, uint64_t>;
  if constexpr (std::is_same_v<T, Held>) {
    return held;
  } else if constexpr (std::is_same_v<T, int64_t> && kFromInteger) {
    if (std::in_range<int64_t>(held)) return static_cast<int64_t>(held);
  } else if constexpr (std::is_same_v<T, double> && kFromInteger) {
    return static_cast<double>(held);
  }
  return std::nullopt;
}

template <class T>
std::optional<T> As(const GgufValue& value) {
  return std::visit([](const auto& held) { return ConvertTo<T>(held); }, value.value);
}

template <class T>
constexpr std::string_view kKind = "";
template <>
constexpr std::string_view kKind<bool> = "true or false";
template <>
constexpr std::string_view kKind<int64_t> = "an integer";
template <>
constexpr std::string_view kKind<double> = "a number";
template <>
constexpr std::string_view kKind<std::string_view> = "a string";
template <>
constexpr std::string_view kKind<GgufArray> = "an array";

}  // namespace

std::string_view GgufTypeName(GgufType type) { return Info(type).name; }

std::vector<std::string_view> GgufArray::Strings() const {
  std::vector<std::string_view> out;
  if (type != GgufType::kString) return out;
  out.reserve(size);
  ByteReader reader(payload, "");
  for (auto text = reader.ReadString(""); text.ok() && out.size() < size;
       text = reader.ReadString(""))
    out.push_back(*text);
  return out;
}

std::vector<GgufArray> GgufArray::Arrays() const {
  std::vector<GgufArray> out;
  if (type != GgufType::kArray) return out;
  out.reserve(size);
  ByteReader reader(payload, "");
  while (!reader.done()) {
    auto array = ReadArray(reader, "", 1);
    if (!array.ok()) break;
    out.push_back(*array);
  }
  return out;
}

std::vector<double> GgufArray::Doubles() const {
  return IsNumber(type) ? Convert<double>(*this) : std::vector<double>();
}

std::vector<int64_t> GgufArray::Integers() const {
  return IsNumber(type) && !IsFloat(type) ? Convert<int64_t>(*this) : std::vector<int64_t>();
}

std::string GgufValue::ToString() const {
  return std::visit(
      []<class Held>(const Held& held) -> std::string {
        if constexpr (std::is_same_v<Held, std::string_view>) {
          return Quoted(held);
        } else if constexpr (std::is_same_v<Held, GgufArray>) {
          return fmt::format("{}[{}]", GgufTypeName(held.type), held.size);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

Result<GgufMetadata> GgufMetadata::Parse(uint64_t count, std::string_view file_name,
                                         ByteReader& reader) {
  GgufMetadata metadata;
  metadata.file_name_ = file_name;
  for (uint64_t i = 0; i < count; ++i) {
    GgufEntry entry;
    TBOOST_ASSIGN_OR_RETURN(entry.key, reader.ReadString("a metadata key"));
    const std::string context = fmt::format("{}: metadata {}", file_name, Quoted(entry.key));
    TBOOST_ASSIGN_OR_RETURN(entry.value, ReadValue(reader, context));
    metadata.entries_.push_back(entry);
  }
  const auto key = [&](uint32_t i) { return metadata.entries_[i].key; };
  metadata.by_key_.resize(metadata.entries_.size());
  std::iota(metadata.by_key_.begin(), metadata.by_key_.end(), 0u);
  std::ranges::sort(metadata.by_key_, {}, key);
  const auto twice = std::ranges::adjacent_find(metadata.by_key_, {}, key);
  if (twice != metadata.by_key_.end())
    return CorruptError("{}: metadata {} is there twice", file_name, Quoted(key(*twice)));
  return metadata;
}

const GgufValue* GgufMetadata::Find(std::string_view key) const {
  const auto found =
      std::ranges::lower_bound(by_key_, key, {}, [&](uint32_t i) { return entries_[i].key; });
  if (found == by_key_.end() || entries_[*found].key != key) return nullptr;
  return &entries_[*found].value;
}

template <class T>
Result<T> GgufMetadata::Require(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return NotFoundError("{}: metadata {} is missing", file_name_, Quoted(key));
  if (std::optional<T> converted = As<T>(*value)) return *converted;
  return CorruptError("{}: metadata {} must be {}, got {}", file_name_, Quoted(key), kKind<T>,
                      value->ToString());
}

template <class T>
Result<T> GgufMetadata::Get(std::string_view key, T fallback) const {
  if (Find(key) == nullptr) return fallback;
  return Require<T>(key);
}

template Result<bool> GgufMetadata::Get(std::string_view, bool) const;
template Result<int64_t> GgufMetadata::Get(std::string_view, int64_t) const;
template Result<double> GgufMetadata::Get(std::string_view, double) const;
template Result<std::string_view> GgufMetadata::Get(std::string_view, std::string_view) const;
template Result<GgufArray> GgufMetadata::Get(std::string_view, GgufArray) const;
template Result<bool> GgufMetadata::Require(std::string_view) const;
template Result<int64_t> GgufMetadata::Require(std::string_view) const;
template Result<double> GgufMetadata::Require(std::string_view) const;
template Result<std::string_view> GgufMetadata::Require(std::string_view) const;
template Result<GgufArray> GgufMetadata::Require(std::string_view) const;

}  // namespace tboost
