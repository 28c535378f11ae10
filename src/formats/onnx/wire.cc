#include "src/formats/onnx/wire.h"

#include <algorithm>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace tboost {
namespace {

constexpr uint64_t kMaxFieldNumber = (1u << 29) - 1;

size_t FixedSize(WireType type) { return type == WireType::kFixed32 ? 4 : 8; }

}  // namespace

std::string_view WireTypeName(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return "a varint";
    case WireType::kFixed64:
      return "a 64-bit number";
    case WireType::kBytes:
      return "bytes";
    case WireType::kFixed32:
      return "a 32-bit number";
  }
  return "a group";
}

Result<uint64_t> WireReader::Varint() try {
  return protozero::decode_varint(&position_, end_);
} catch (const protozero::end_of_buffer_exception&) {
  return CorruptError("truncated: a varint at byte {} does not end", offset());
} catch (const protozero::varint_too_long_exception&) {
  return CorruptError("a varint at byte {} is longer than 10 bytes", offset());
}

Result<uint64_t> WireReader::Fixed(size_t bytes) {
  if (static_cast<size_t>(end_ - position_) < bytes)
    return CorruptError("truncated: a number at byte {} needs {} bytes, {} left", offset(), bytes,
                        end_ - position_);
  uint64_t value = 0;
  std::memcpy(&value, position_, bytes);
  position_ += bytes;
  return value;
}

Result<uint64_t> WireReader::Number(WireType type) {
  return type == WireType::kVarint ? Varint() : Fixed(FixedSize(type));
}

Result<WireField> WireReader::Next() {
  const uint64_t start = offset();
  TBOOST_ASSIGN_OR_RETURN(const uint64_t tag, Varint());
  if (tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber)
    return CorruptError("a field at byte {} has the number {}", start, tag >> 3);
  WireField field;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  field.offset = offset();
  switch (field.type) {
    case WireType::kVarint:
    case WireType::kFixed32:
    case WireType::kFixed64: {
      TBOOST_ASSIGN_OR_RETURN(field.value, Number(field.type));
      return field;
    }
    case WireType::kBytes: {
      TBOOST_ASSIGN_OR_RETURN(const uint64_t size, Varint());
      if (size > static_cast<uint64_t>(end_ - position_))
        return CorruptError("truncated: field {} at byte {} has {} bytes, {} left", field.number,
                            start, size, end_ - position_);
      field.offset = offset();
      field.bytes = {position_, size};
      position_ += size;
      return field;
    }
  }
  return CorruptError("field {} at byte {} has the wire type {}", field.number, start, tag & 7);
}

Status ExpectType(const WireField& field, WireType type) {
  if (field.type == type) return OkStatus();
  return CorruptError("{} at byte {}: expected {}, got {}", field.name, field.offset,
                      WireTypeName(type), WireTypeName(field.type));
}

Status ForEachNumber(const WireField& field, WireType type, FunctionRef<Status(uint64_t)> visit) {
  if (field.type != WireType::kBytes) {
    TBOOST_RETURN_IF_ERROR(ExpectType(field, type));
    return visit(field.value);
  }
  WireReader reader(field.bytes, field.bytes.data() - field.offset);
  while (!reader.done()) {
    TBOOST_ASSIGN_OR_RETURN(const uint64_t value, reader.Number(type));
    TBOOST_RETURN_IF_ERROR(visit(value));
  }
  return OkStatus();
}

Result<uint64_t> CountNumbers(const WireField& field, WireType type) {
  if (field.type != WireType::kBytes) {
    TBOOST_RETURN_IF_ERROR(ExpectType(field, type));
    return uint64_t{1};
  }
  if (type == WireType::kVarint)
    return static_cast<uint64_t>(std::ranges::count_if(
        field.bytes, [](char byte) { return (static_cast<uint8_t>(byte) & 0x80) == 0; }));
  if (field.bytes.size() % FixedSize(type) != 0)
    return CorruptError("{} at byte {}: {} bytes are not whole numbers of {}", field.name,
                        field.offset, field.bytes.size(), FixedSize(type));
  return field.bytes.size() / FixedSize(type);
}

}  // namespace tboost
