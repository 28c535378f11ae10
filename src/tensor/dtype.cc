#include "src/tensor/dtype.h"

#include <algorithm>
#include <array>

#include "src/base/checked.h"

namespace tboost {
namespace {

// In the order of DType. In a panel a plain element keeps its size and a block its bytes, except
// that q4_k's packed 6-bit scales and minimums take one byte each: 2 + 2 + 8 + 8 + 128.
constexpr std::array<DTypeInfo, 16> kInfo = {{
    {DType::kF32, "f32", 1, 4, 4},
    {DType::kF16, "f16", 1, 2, 2},
    {DType::kBF16, "bf16", 1, 2, 2},
    {DType::kI8, "i8", 1, 1, 1},
    {DType::kU8, "u8", 1, 1, 1},
    {DType::kI32, "i32", 1, 4, 4},
    {DType::kI64, "i64", 1, 8, 8},
    {DType::kBool, "bool", 1, 1, 1},
    {DType::kQ8_0, "q8_0", 32, 34, 34},
    {DType::kQ4_0, "q4_0", 32, 18, 18},
    {DType::kQ4_1, "q4_1", 32, 20, 20},
    {DType::kQ5_0, "q5_0", 32, 22, 22},
    {DType::kQ4_K, "q4_k", 256, 144, 148},
    {DType::kQ6_K, "q6_k", 256, 210, 210},
    {DType::kInt8, "int8", 1, 1, 1, 8, 127},
    {DType::kInt7, "int7", 1, 1, 1, 8, 63},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (static_cast<size_t>(kInfo[i].dtype) != i) return false;
  return true;
}
static_assert(InOrder() && static_cast<size_t>(DType::kInt7) + 1 == kInfo.size());

}  // namespace

const DTypeInfo& Info(DType dtype) { return kInfo[static_cast<size_t>(dtype)]; }

std::span<const DTypeInfo> AllDTypes() { return kInfo; }

std::string_view DTypeName(DType dtype) { return Info(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  const auto found = std::ranges::find(kInfo, name, &DTypeInfo::name);
  if (found == kInfo.end()) return std::nullopt;
  return found->dtype;
}

std::optional<uint64_t> StorageBytes(DType dtype, uint64_t elements) {
  return Info(dtype).row_bytes > 0 ? std::nullopt : RowBytes(dtype, elements);
}

std::optional<uint64_t> RowBytes(DType dtype, uint64_t k) {
  const DTypeInfo& info = Info(dtype);
  if (k % info.block_elements != 0) return std::nullopt;
  const auto blocks = CheckedMul(k / info.block_elements, info.block_bytes);
  return blocks ? CheckedAdd(*blocks, info.row_bytes) : std::nullopt;
}

}  // namespace tboost
