// The two 16-bit floating-point types, as bits, and their exact or correctly rounded conversions.
#pragma once

#include <bit>
#include <cstdint>

namespace tboost {

// Exact; a NaN stays a NaN.
inline float F16ToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t magnitude = uint32_t{bits & 0x7fffu} << 13;
  // The exponent's bias differs by 112; the product is exact, also for what is subnormal in f16.
  const float finite = std::bit_cast<float>(magnitude) * 0x1p112f;
  const bool special = (bits & 0x7c00u) == 0x7c00u;  // infinity or NaN
  return std::bit_cast<float>(
      sign | (special ? magnitude | 0x7f800000u : std::bit_cast<uint32_t>(finite)));
}

inline float BF16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// To nearest, ties to even; past the largest number infinity; NaN becomes a quiet NaN.
inline uint16_t FloatToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and above
  uint32_t rounded;
  if (magnitude < 0x38800000u) {  // subnormal in f16: the addition rounds to multiples of 2^-24
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    rounded = std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f);
  } else {
    const uint32_t rebiased = magnitude - (112u << 23);
    rounded = (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13;
  }
  return static_cast<uint16_t>(sign | rounded);
}

inline uint16_t FloatToBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace tboost
