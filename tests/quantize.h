// f32 weights to the blocked formats, by plain rounding: files of every kept format from one real
// model. The layouts are those that src/tensor/dequantize.cc reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "src/tensor/dtype.h"
#include "src/tensor/float16.h"
#include "src/tensor/panel.h"

namespace tboost::testing {

// Stores `value` as f16 and returns what it then is.
inline float StoreHalf(float value, uint8_t* bytes) {
  const uint16_t bits = FloatToF16(value);
  std::memcpy(bytes, &bits, sizeof(bits));
  return F16ToFloat(bits);
}

// The code in [0, most] whose value, step * code + base, is nearest.
inline uint8_t NearestCode(float value, float step, float base, int most) {
  const float code = step == 0 ? 0 : std::round((value - base) / step);
  return static_cast<uint8_t>(std::clamp(code, 0.0f, static_cast<float>(most)));
}

inline float LargestMagnitude(const float* x, int count) {
  return std::abs(
      *std::max_element(x, x + count, [](float a, float b) { return std::abs(a) < std::abs(b); }));
}

inline void QuantizeQ8_0(const float* x, uint8_t* block) {
  const float step = StoreHalf(LargestMagnitude(x, 32) / 127, block);
  for (int i = 0; i < 32; ++i)
    block[2 + i] = static_cast<uint8_t>(NearestCode(x[i], step, -127 * step, 254) - 127);
}

inline void QuantizeQ4_0(const float* x, uint8_t* block) {
  const float step = StoreHalf(LargestMagnitude(x, 32) / 7.5f, block);
  for (int i = 0; i < 32; ++i)
    block[2 + i % 16] |= NearestCode(x[i], step, -8 * step, 15) << (i / 16 * 4);
}

inline void QuantizeQ4_1(const float* x, uint8_t* block) {
  const auto [least, most] = std::minmax_element(x, x + 32);
  const float step = StoreHalf((*most - *least) / 15, block), base = StoreHalf(*least, block + 2);
  for (int i = 0; i < 32; ++i)
    block[4 + i % 16] |= NearestCode(x[i], step, base, 15) << (i / 16 * 4);
}

inline void QuantizeQ5_0(const float* x, uint8_t* block) {
  const float step = StoreHalf(LargestMagnitude(x, 32) / 15.5f, block);
  for (int i = 0; i < 32; ++i) {
    const uint8_t code = NearestCode(x[i], step, -16 * step, 31);
    block[2 + i / 8] |= (code >> 4) << (i % 8);
    block[6 + i % 16] |= (code & 15) << (i / 16 * 4);
  }
}

// Eight parts of 32 with 6-bit steps and minima.
inline void QuantizeQ4_K(const float* x, uint8_t* block) {
  float steps[8], minima[8];
  for (int j = 0; j < 8; ++j) {
    const auto [least, most] = std::minmax_element(x + j * 32, x + j * 32 + 32);
    minima[j] = std::max(0.0f, -*least);
    steps[j] = (*most + minima[j]) / 15;
  }
  const float d = StoreHalf(std::max(0.0f, *std::max_element(steps, steps + 8)) / 63, block);
  const float dmin = StoreHalf(*std::max_element(minima, minima + 8) / 63, block + 2);
  uint8_t* packed = block + 4;
  for (int j = 0; j < 8; ++j) {
    const uint8_t step = NearestCode(steps[j], d, 0, 63);
    const uint8_t minimum = NearestCode(minima[j], dmin, 0, 63);
    if (j < 4) {
      packed[j] |= step;
      packed[j + 4] |= minimum;
    } else {
      packed[j + 4] |= (step & 15) | (minimum & 15) << 4;
      packed[j - 4] |= step >> 4 << 6;
      packed[j] |= minimum >> 4 << 6;
    }
    for (int i = 0; i < 32; ++i)
      block[16 + j / 2 * 32 + i] |= NearestCode(x[j * 32 + i], d * step, -dmin * minimum, 15)
                                    << (j % 2 * 4);
  }
}

// Sixteen parts of 16 with signed 8-bit steps.
inline void QuantizeQ6_K(const float* x, uint8_t* block) {
  const float d = StoreHalf(LargestMagnitude(x, 256) / 31 / 127, block + 208);
  for (int j = 0; j < 16; ++j)
    block[192 + j] = NearestCode(LargestMagnitude(x + j * 16, 16) / 31, d, 0, 127);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, group = i / 32 % 4;
    const float step = d * block[192 + i / 16];
    const uint8_t code = NearestCode(x[i], step, -32 * step, 63);
    block[half * 64 + i % 64] |= (code & 15) << (group / 2 * 4);
    block[128 + half * 32 + i % 32] |= (code >> 4) << (2 * group);
  }
}

// `count` values (a multiple of the block) in a storage format for weights.
inline std::string Quantize(DType dtype, const float* values, int64_t count) {
  using Quantizer = void (*)(const float*, uint8_t*);
  static constexpr std::pair<DType, Quantizer> kQuantizers[] = {
      {DType::kQ8_0, QuantizeQ8_0}, {DType::kQ4_0, QuantizeQ4_0}, {DType::kQ4_1, QuantizeQ4_1},
      {DType::kQ5_0, QuantizeQ5_0}, {DType::kQ4_K, QuantizeQ4_K}, {DType::kQ6_K, QuantizeQ6_K}};
  const DTypeInfo& info = Info(dtype);
  std::string out(*StorageBytes(dtype, count), '\0');
  if (!info.quantised()) ConvertRow(values, count, dtype, out.data());
  for (const auto& [quantised, quantize] : kQuantizers)
    if (quantised == dtype)
      for (int64_t i = 0; i < count / info.block_elements; ++i)
        quantize(values + i * info.block_elements,
                 reinterpret_cast<uint8_t*>(out.data()) + i * info.block_bytes);
  return out;
}

}  // namespace tboost::testing
