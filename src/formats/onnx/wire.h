// The protobuf wire format: the fields of one message, in the order of its bytes. Source of the
// format: the encoding chapter of the Protocol Buffers documentation. Lengths have 64 bits, nothing
// is copied, and wrong bytes are a Status: protozero's own reader has 32-bit lengths and asserts.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/base/function_ref.h"
#include "src/base/status.h"

namespace tboost {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string_view WireTypeName(WireType type);

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;           // of a number
  std::string_view bytes = {};  // of kBytes; views the message
  uint64_t offset = 0;          // of the value in the file
  std::string_view name = {};   // what messages call the field; set by whoever knows it
};

// Reads forward through a message. Not thread-safe.
class WireReader {
 public:
  // `file` is the start of the file that `message` lies in; messages count offsets from it.
  WireReader(std::string_view message, const char* file)
      : position_(message.data()), end_(message.data() + message.size()), file_(file) {}

  bool done() const { return position_ == end_; }
  // The next field. Truncated ones, groups and field numbers out of range are kCorrupt.
  Result<WireField> Next();

 private:
  friend Status ForEachNumber(const WireField& field, WireType type,
                              FunctionRef<Status(uint64_t)> visit);
  Result<uint64_t> Varint();
  Result<uint64_t> Fixed(size_t bytes);
  Result<uint64_t> Number(WireType type);
  uint64_t offset() const { return static_cast<uint64_t>(position_ - file_); }

  const char* position_;
  const char* end_;
  const char* file_;
};

// kCorrupt unless the field has this type; names the field.
Status ExpectType(const WireField& field, WireType type);

// Visits the numbers of a repeated field: the one it holds, or, packed, all in its bytes.
Status ForEachNumber(const WireField& field, WireType type, FunctionRef<Status(uint64_t)> visit);

// How many numbers ForEachNumber visits if it does not fail. One pass over varints, none over
// others.
Result<uint64_t> CountNumbers(const WireField& field, WireType type);

}  // namespace tboost
