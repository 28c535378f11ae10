// The typed key-value part of a GGUF file. Values are views of the file: nothing is copied, so a
// vocabulary of any size costs one pass over its bytes and no memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/bytes.h"
#include "src/base/status.h"

namespace tboost {

// The value types of the format, by their ids in the file.
enum class GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
// "u8", "string"...: for messages and reports.
std::string_view GgufTypeName(GgufType type);

// A checked array in the file. Copyable; valid while the file's bytes live.
struct GgufArray {
  GgufType type = GgufType::kU8;  // of the elements
  uint64_t size = 0;              // how many
  std::string_view payload;       // their bytes as they lie in the file

  // Every element; empty where the elements are of another kind (see `type`).
  std::vector<std::string_view> Strings() const;
  std::vector<GgufArray> Arrays() const;
  // Every element of a numeric or boolean array, converted; empty for strings and arrays.
  std::vector<double> Doubles() const;
  std::vector<int64_t> Integers() const;  // empty for floating-point elements too
};

struct GgufValue {
  GgufType type = GgufType::kU8;
  // Signed types are int64_t, unsigned uint64_t, both floats double.
  std::variant<bool, int64_t, uint64_t, double, std::string_view, GgufArray> value;

  // As in a report: the number, the quoted text, or "u32[7]" for an array.
  std::string ToString() const;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

// All entries of a file. Immutable and copyable; valid while the file's bytes live.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  // Reads `count` entries. Duplicate keys, unknown types, arrays nested deeper than 4 and anything
  // that leaves the file are kCorrupt. `file_name` starts every later message too.
  static Result<GgufMetadata> Parse(uint64_t count, std::string_view file_name, ByteReader& reader);

  const std::vector<GgufEntry>& entries() const { return entries_; }  // in file order
  const GgufValue* Find(std::string_view key) const;                  // nullptr where absent

  // The value of `key` as a T: bool, int64_t, double, std::string_view or GgufArray. Integers of
  // any width convert where they fit, and to double. Absent: `fallback`; another type: kCorrupt.
  template <class T>
  Result<T> Get(std::string_view key, T fallback) const;
  // The same where the key must be there (else kNotFound).
  template <class T>
  Result<T> Require(std::string_view key) const;

 private:
  std::string file_name_;
  std::vector<GgufEntry> entries_;
  std::vector<uint32_t> by_key_;  // positions in entries_, sorted by key
};

}  // namespace tboost
