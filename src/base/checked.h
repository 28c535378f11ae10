// 64-bit integer arithmetic that reports overflow, for sizes read from files.
#pragma once

#include <cstdint>
#include <optional>

namespace tboost {

inline std::optional<uint64_t> CheckedMul(uint64_t a, uint64_t b) {
  uint64_t out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) {
  uint64_t out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// Whether [offset, offset + size) lies within [0, limit).
inline bool InRange(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

inline constexpr uint64_t DivUp(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
inline constexpr uint64_t RoundUp(uint64_t a, uint64_t b) { return DivUp(a, b) * b; }

}  // namespace tboost
