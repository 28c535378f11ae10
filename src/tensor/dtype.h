// Element types and storage formats: one enum, one table of facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tboost {

// Blocked formats keep the codes of their GGUF block (ggml's published layout) and are named like
// it.
enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI32,
  kI64,
  kBool,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ4_K,
  kQ6_K,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // "f32", "q4_1"...: as in text forms, reports and options
  int block_elements;     // 1 for plain types; blocks run along k (the last dimension)
  int block_bytes;        // as stored in files
  int panel_block_bytes;  // bytes of one block of one column in a packed panel (tensor/panel.h)
  bool quantised() const { return block_elements > 1; }
};

const DTypeInfo& Info(DType dtype);
std::span<const DTypeInfo> AllDTypes();
std::string_view DTypeName(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);

// Bytes of `elements` elements (a multiple of the block); nullopt on overflow or a ragged block.
std::optional<uint64_t> StorageBytes(DType dtype, uint64_t elements);

}  // namespace tboost
