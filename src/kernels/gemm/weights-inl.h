// How each storage format of W is read from a panel (tensor/panel.h): vectors of 16 columns, k
// ascending. Included by ISA sources only.
//
// A format is a type with
//   kDType                   the format
//   kChunkBytes              bytes of kChunk k of a panel
//   kGroup                   how many k a group holds; a chunk has kChunk / kGroup groups
//   At(panel, k, head)       the chunk that starts at k, a multiple of kChunk
//   Read(head, g, group)     group g of that chunk, as loaded
//   Value<j>(head, group)    the weights at k = g * kGroup + j of the chunk, as f32
//
// Values are computed by one expression each, so a weight has one value wherever it is decoded.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/simd/bits-inl.h"
#include "src/kernels/simd/simd.h"
#include "src/tensor/dtype.h"

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int64_t kWordBytes = kVectorLanes * 4;  // of a row of words, one a column

struct F32Weights {
  static constexpr DType kDType = DType::kF32;
  static constexpr int64_t kChunkBytes = kChunk * kWordBytes;
  static constexpr int kGroup = 1;
  struct Head {
    const float* w;
  };
  using Group = F32x16;
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    head.w = reinterpret_cast<const float*>(panel) + k * kVectorLanes;
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    group = Load(head.w + g * kVectorLanes);
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head&, const Group& group) {
    return group;
  }
};

// f16 and bf16: pairs of k.
template <DType dtype>
struct HalfWeights {
  static constexpr DType kDType = dtype;
  static constexpr int64_t kChunkBytes = kChunk * kWordBytes / 2;
  static constexpr int kGroup = 2;
  struct Head {
    const char* w;
  };
  using Group = F32x16Pair;
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    head.w = panel + k * kVectorLanes * 2;
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    const char* pairs = head.w + g * kWordBytes;
    const F32x16Pair pair = dtype == DType::kF16 ? LoadF16Pairs(pairs) : LoadBF16Pairs(pairs);
    group.even = pair.even;
    group.odd = pair.odd;
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head&, const Group& group) {
    return j == 0 ? group.even : group.odd;
  }
};

TBOOST_INLINE F32x16 Scales(const char* f16) {
  return LoadF16(reinterpret_cast<const uint16_t*>(f16));
}
TBOOST_INLINE I32x16 Words(const char* words) {
  return LoadInt(reinterpret_cast<const int32_t*>(words));
}

struct Q8_0Weights {
  static constexpr DType kDType = DType::kQ8_0;
  static constexpr int64_t kChunkBytes = 32 + 8 * kWordBytes;
  static constexpr int kGroup = 4;
  struct Head {
    F32x16 d;
    const char* codes;
  };
  using Group = I32x16;
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    const char* block = panel + k / 32 * kChunkBytes;
    head.d = Scales(block);
    head.codes = block + 32;
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    group = Words(head.codes + g * kWordBytes);
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head& head, const Group& group) {
    return head.d * ToFloat(ShiftRightSigned<24>(ShiftLeft<24 - 8 * j>(group)));
  }
};

// The other formats have unsigned codes of 4 to 6 bits and the value d * code + m. Where codes are
// meant to be centred, m is -8 d, -16 d or -32 d: the sum is exact then, so the value is that of d
// * (code - 8).
struct Steps {
  F32x16 d, m;
  const char* codes;
};

// 4-bit codes.
template <DType dtype>
struct NibbleWeights {
  static constexpr DType kDType = dtype;
  static constexpr int64_t kChunkBytes = (dtype == DType::kQ4_0   ? 32
                                          : dtype == DType::kQ4_1 ? 64
                                                                  : (64 + 256) / 8) +
                                         4 * kWordBytes;
  static constexpr int kGroup = 8;
  using Head = Steps;
  using Group = I32x16;
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    if constexpr (dtype == DType::kQ4_0) {
      const char* block = panel + k / 32 * kChunkBytes;
      head.d = Scales(block);
      head.m = head.d * Set1(-8);
      head.codes = block + 32;
    } else if constexpr (dtype == DType::kQ4_1) {
      const char* block = panel + k / 32 * kChunkBytes;
      head.d = Scales(block);
      head.m = Scales(block + 32);
      head.codes = block + 64;
    } else {
      const char* block = panel + k / 256 * (8 * kChunkBytes);
      const int64_t sub_block = k % 256 / 32;
      const auto* scales = reinterpret_cast<const uint8_t*>(block + 64) + sub_block * kVectorLanes;
      head.d = Scales(block) * ToFloat(LoadU8(scales));
      head.m = Zero() - Scales(block + 32) * ToFloat(LoadU8(scales + 8 * kVectorLanes));
      head.codes = block + 64 + 256 + sub_block * 4 * kWordBytes;
    }
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    group = Words(head.codes + g * kWordBytes);
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head& head, const Group& group) {
    return Fma(head.d, LowNibble(ShiftRight<4 * j>(group)), head.m);
  }
};

// Codes in the bytes of words. With registers to spare a byte is masked where it stands: as a
// number that is its code times a power of two, which is taken out of the scale. Both are exact.
inline constexpr bool kBytesInPlace = kVectorRegisters >= 32;
struct ByteSteps {
  F32x16 d[kBytesInPlace ? 4 : 1], m;
};
TBOOST_INLINE void SetByteSteps(F32x16 d, float middle, ByteSteps& steps) {
  steps.m = d * Set1(-middle);
  Unroll<kBytesInPlace ? 4 : 1>([&](auto i) TBOOST_INLINE_LAMBDA {
    steps.d[i] = d;
    d = d * Set1(0x1p-8f);
  });
}
template <int i, int kBits>
TBOOST_INLINE F32x16 ByteValue(const ByteSteps& steps, I32x16 word) {
  constexpr int kMask = (1 << kBits) - 1;
  if constexpr (kBytesInPlace)
    return Fma(steps.d[i], ToFloat(word & SetInt1(kMask << (8 * i))), steps.m);
  else
    return Fma(steps.d[0], ToFloat(ShiftRight<8 * i>(word) & SetInt1(kMask)), steps.m);
}

struct Q5_0Weights {
  static constexpr DType kDType = DType::kQ5_0;
  static constexpr int64_t kChunkBytes = 32 + 5 * kWordBytes;
  static constexpr int kGroup = 8;
  struct Head {
    ByteSteps steps;
    const char* codes;  // the words of lowest bits, then those of the other bits
  };
  struct Group {
    I32x16 even, odd;  // codes as bytes
  };
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    const char* block = panel + k / 32 * kChunkBytes;
    SetByteSteps(Scales(block), 16, head.steps);
    head.codes = block + 32;
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    const I32x16 high = Words(head.codes + (1 + g) * kWordBytes);
    const I32x16 low = ShiftRightBy(Words(head.codes), static_cast<int>(2 * g));
    group.even = SelectBits<0x1e1e1e1e>(ShiftLeft<1>(high), low);
    group.odd = SelectBits<0x1e1e1e1e>(ShiftRight<3>(high), ShiftRight<1>(low));
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head& head, const Group& group) {
    return ByteValue<j / 2, 5>(head.steps, j % 2 ? group.odd : group.even);
  }
};

struct Q6_KWeights {
  static constexpr DType kDType = DType::kQ6_K;
  static constexpr int64_t kChunkBytes = (32 + 256) / 8 + 6 * kWordBytes;
  static constexpr int kGroup = 16;  // a sub-block
  struct Head {
    F32x16 d;
    const int8_t* scales;  // of two sub-blocks
    const char* codes;
  };
  struct Group {
    ByteSteps steps;
    I32x16 words[4];  // codes as bytes
  };
  TBOOST_INLINE static void At(const char* panel, int64_t k, Head& head) {
    const char* block = panel + k / 256 * (8 * kChunkBytes);
    const int64_t chunk = k % 256 / 32;
    head.d = Scales(block);
    head.scales = reinterpret_cast<const int8_t*>(block + 32) + chunk * 2 * kVectorLanes;
    head.codes = block + 32 + 256 + chunk * 6 * kWordBytes;
  }
  TBOOST_INLINE static void Read(const Head& head, int64_t g, Group& group) {
    SetByteSteps(head.d * ToFloat(LoadI8(head.scales + g * kVectorLanes)), 32, group.steps);
    const char* codes = head.codes + g * 3 * kWordBytes;
    Unroll<3>([&](auto i) TBOOST_INLINE_LAMBDA { group.words[i] = Words(codes + i * kWordBytes); });
    // The last four codes are in the others' top bits, two bits in each.
    const I32x16 low =
        SelectBits<0x03030303>(ShiftRight<6>(group.words[0]), ShiftRight<4>(group.words[1]));
    group.words[3] = SelectBits<0x0f0f0f0f>(low, ShiftRight<2>(group.words[2]));
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Head&, const Group& group) {
    return ByteValue<j % 4, 6>(group.steps, group.words[j / 4]);
  }
};

}  // namespace tboost::kernels::TBOOST_ISA
