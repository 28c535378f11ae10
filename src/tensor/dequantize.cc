// Storage formats to f32 and back. A quantised value is a small integer times a product of scales,
// less a minimum: all but the last subtraction is exact in f32, so every way to compute it gives
// the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/tensor/float16.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

uint16_t Half(const uint8_t* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}
float Scale(const uint8_t* bytes) { return F16ToFloat(Half(bytes)); }

int LowNibble(uint8_t byte) { return byte & 15; }
int HighNibble(uint8_t byte) { return byte >> 4; }

void Q8_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

void Q4_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(LowNibble(block[2 + i]) - 8);
    out[i + 16] = d * static_cast<float>(HighNibble(block[2 + i]) - 8);
  }
}

void Q4_1(const uint8_t* block, float* out) {
  const float d = Scale(block), m = Scale(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(LowNibble(block[4 + i])) + m;
    out[i + 16] = d * static_cast<float>(HighNibble(block[4 + i])) + m;
  }
}

void Q5_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  for (int i = 0; i < 32; ++i) {
    const uint8_t byte = block[6 + i % 16];
    const int high = (block[2 + i / 8] >> (i % 8) & 1) << 4;
    out[i] = d * static_cast<float>(((i < 16 ? LowNibble(byte) : HighNibble(byte)) | high) - 16);
  }
}

void Q4_K(const uint8_t* block, float* out) {
  const float d = Scale(block), dmin = Scale(block + 2);
  const uint8_t *packed = block + 4, *codes = block + 16;
  for (int j = 0; j < 8; ++j) {  // sub-blocks of 32
    int scale = packed[j] & 63, minimum = packed[j + 4] & 63;
    if (j >= 4) {
      scale = LowNibble(packed[j + 4]) | packed[j - 4] >> 6 << 4;
      minimum = HighNibble(packed[j + 4]) | packed[j] >> 6 << 4;
    }
    const float step = d * static_cast<float>(scale), base = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      const uint8_t byte = codes[j / 2 * 32 + i];
      out[j * 32 + i] =
          step * static_cast<float>(j % 2 ? HighNibble(byte) : LowNibble(byte)) - base;
    }
  }
}

void Q6_K(const uint8_t* block, float* out) {
  const uint8_t *low = block, *high = block + 128, *scales = block + 192;
  const float d = Scale(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, group = i / 32 % 4;
    const uint8_t byte = low[half * 64 + i % 64];
    const int bits = high[half * 32 + i % 32] >> (2 * group) & 3;
    const int code = ((group < 2 ? LowNibble(byte) : HighNibble(byte)) | bits << 4) - 32;
    const float step = d * static_cast<float>(static_cast<int8_t>(scales[i / 16]));
    out[i] = step * static_cast<float>(code);
  }
}

constexpr int kCodesAt = 8;  // behind the scale and the sum of the codes

// A row of f32 to one scale and signed codes.
void ToCodes(const float* row, int64_t k, float largest_code, uint8_t* out) {
  float largest = 0, none = 0;  // `none` is NaN where an element is not finite
  for (int64_t i = 0; i < k; ++i) {
    largest = std::max(largest, std::abs(row[i]));
    none += row[i] * 0.0f;
  }
  float scale = largest / largest_code + none;
  // A row of numbers too small for a scale counts as zeros.
  if (scale < std::numeric_limits<float>::min()) scale = 0;
  std::memcpy(out, &scale, sizeof scale);
  const float limit = scale > 0 ? largest_code : 0;
  int32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    const float nearest = limit > 0 ? std::nearbyint(row[i] / scale) : 0;
    const auto code = static_cast<int8_t>(std::clamp(nearest, -limit, limit));
    sum += code;
    out[kCodesAt + i] = static_cast<uint8_t>(code);
  }
  std::memcpy(out + sizeof scale, &sum, sizeof sum);
}

void FromCodes(const uint8_t* row, int64_t k, float* out) {
  float scale;
  std::memcpy(&scale, row, sizeof scale);
  for (int64_t i = 0; i < k; ++i)
    out[i] = scale * static_cast<float>(static_cast<int8_t>(row[kCodesAt + i]));
}

struct BlockDecoder {
  DType dtype;
  void (*decode)(const uint8_t* block, float* out);
};
constexpr BlockDecoder kDecoders[] = {{DType::kQ8_0, Q8_0}, {DType::kQ4_0, Q4_0},
                                      {DType::kQ4_1, Q4_1}, {DType::kQ5_0, Q5_0},
                                      {DType::kQ4_K, Q4_K}, {DType::kQ6_K, Q6_K}};

}  // namespace

void DequantizeRow(DType dtype, const void* row, int64_t k, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(row);
  if (dtype == DType::kF32) std::memcpy(out, bytes, static_cast<size_t>(k) * sizeof(float));
  if (dtype == DType::kF16)
    for (int64_t i = 0; i < k; ++i) out[i] = F16ToFloat(Half(bytes + 2 * i));
  if (dtype == DType::kBF16)
    for (int64_t i = 0; i < k; ++i) out[i] = BF16ToFloat(Half(bytes + 2 * i));
  const DTypeInfo& info = Info(dtype);
  if (info.row_bytes > 0) FromCodes(bytes, k, out);
  for (const BlockDecoder& decoder : kDecoders) {
    if (decoder.dtype != dtype) continue;
    for (int64_t block = 0; block < k / info.block_elements; ++block)
      decoder.decode(bytes + block * info.block_bytes, out + block * info.block_elements);
  }
}

void ConvertRow(const float* row, int64_t k, DType dtype, void* out) {
  auto* bytes = static_cast<uint8_t*>(out);
  if (dtype == DType::kF32) std::memcpy(bytes, row, static_cast<size_t>(k) * sizeof(float));
  const DTypeInfo& info = Info(dtype);
  if (info.row_bytes > 0) ToCodes(row, k, static_cast<float>(info.largest_code), bytes);
  if (dtype != DType::kF16 && dtype != DType::kBF16) return;
  for (int64_t i = 0; i < k; ++i) {
    const uint16_t bits = dtype == DType::kF16 ? FloatToF16(row[i]) : FloatToBF16(row[i]);
    std::memcpy(bytes + 2 * i, &bits, sizeof bits);
  }
}

}  // namespace tboost
