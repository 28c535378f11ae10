// Element types and storage formats: one enum, one table of facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tboost {

// Blocked formats keep the codes of their GGUF block (ggml's published layout) and are named like
// it. kInt8 and kInt7 are made when a model is compiled, never read from its file: a row is an f32
// scale, the sum of its codes (i32) and signed codes of 8 or 7 bits with the values scale * code.
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
  kInt8,
  kInt7,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // "f32", "q4_1"...: as in text forms, reports and options
  int block_elements;     // 1 for plain types; blocks run along k (the last dimension)
  int block_bytes;        // as stored in files
  int panel_block_bytes;  // bytes of one block of one column in a packed panel (tensor/panel.h)
  int row_bytes = 0;      // bytes before a row's blocks, in rows and in panels: scale and sum
  int largest_code = 0;   // of formats with a scale per row: codes are in [-largest, largest]
  bool quantised() const { return block_elements > 1 || row_bytes > 0; }
};

const DTypeInfo& Info(DType dtype);
std::span<const DTypeInfo> AllDTypes();
std::string_view DTypeName(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);

// Bytes of `elements` elements (a multiple of the block); nullopt on overflow, a ragged block or a
// format whose size depends on the number of rows.
std::optional<uint64_t> StorageBytes(DType dtype, uint64_t elements);
// Bytes of a row of k elements, in any format; nullopt on overflow or a ragged block.
std::optional<uint64_t> RowBytes(DType dtype, uint64_t k);

}  // namespace tboost
