// How each storage format of W is read from a panel (tensor/panel.h): vectors of 16 columns, k
// ascending. Included by ISA sources only.
//
// A format is a type with
//   kDType                   the format
//   kGroup                   how many k one group holds; a chunk of kChunk k has kChunk / kGroup
//   groups At(panel, k)   -> Head   the chunk that starts at k (a multiple of kChunk) Read(head, g)
//   -> Group  group g of the chunk, as loaded Value<j>(group)          the weights at k = g *
//   kGroup + j, as f32
// Values are computed by one expression each, so a weight has one value wherever it is decoded.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/simd/simd.h"
#include "src/tensor/dtype.h"

namespace tboost::kernels::TBOOST_ISA {

struct F32Weights {
  static constexpr DType kDType = DType::kF32;
  static constexpr int kGroup = 1;
  struct Head {
    const float* w;
  };
  using Group = F32x16;
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    return {reinterpret_cast<const float*>(panel) + k * kVectorLanes};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    return Load(head.w + g * kVectorLanes);
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    return group;
  }
};

// f16 and bf16: pairs of k.
template <DType dtype>
struct HalfWeights {
  static constexpr DType kDType = dtype;
  static constexpr int kGroup = 2;
  struct Head {
    const char* w;
  };
  using Group = F32x16Pair;
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    return {panel + k * kVectorLanes * 2};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    const char* pairs = head.w + g * kVectorLanes * 4;
    if constexpr (dtype == DType::kF16)
      return LoadF16Pairs(pairs);
    else
      return LoadBF16Pairs(pairs);
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    return j == 0 ? group.even : group.odd;
  }
};

TBOOST_INLINE F32x16 Scales(const char* f16) {
  return LoadF16(reinterpret_cast<const uint16_t*>(f16));
}
TBOOST_INLINE I32x16 Words(const char* words) {
  return LoadInt(reinterpret_cast<const int32_t*>(words));
}
inline constexpr int kWordBytes = kVectorLanes * 4;  // of a row of words, one a column

struct Q8_0Weights {
  static constexpr DType kDType = DType::kQ8_0;
  static constexpr int kGroup = 4;
  struct Head {
    F32x16 d;
    const char* codes;
  };
  struct Group {
    F32x16 d;
    I32x16 word;
  };
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    const char* block = panel + k / 32 * (32 + 8 * kWordBytes);
    return {Scales(block), block + 32};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    return {head.d, Words(head.codes + g * kWordBytes)};
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    return group.d * ToFloat(ShiftRightSigned<24>(ShiftLeft<24 - 8 * j>(group.word)));
  }
};

struct Q4_0Weights {
  static constexpr DType kDType = DType::kQ4_0;
  static constexpr int kGroup = 8;
  using Head = Q8_0Weights::Head;
  using Group = Q8_0Weights::Group;
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    const char* block = panel + k / 32 * (32 + 4 * kWordBytes);
    return {Scales(block), block + 32};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    return {head.d, Words(head.codes + g * kWordBytes)};
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    return group.d * LowNibble<8>(ShiftRight<4 * j>(group.word));
  }
};

// d * code + m over 4-bit codes: q4_1, and q4_k whose sub-blocks have an own d and m.
template <DType dtype>
struct NibbleWeights {
  static constexpr DType kDType = dtype;
  static constexpr int kGroup = 8;
  struct Head {
    F32x16 d, m;
    const char* codes;
  };
  struct Group {
    F32x16 d, m;
    I32x16 word;
  };
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    if constexpr (dtype == DType::kQ4_1) {
      const char* block = panel + k / 32 * (64 + 4 * kWordBytes);
      return {Scales(block), Scales(block + 32), block + 64};
    } else {
      const char* block = panel + k / 256 * (64 + 256 + 32 * kWordBytes);
      const int64_t sub_block = k % 256 / 32;
      const auto* scales = reinterpret_cast<const uint8_t*>(block + 64) + sub_block * kVectorLanes;
      const F32x16 d = Scales(block) * ToFloat(LoadU8(scales));
      const F32x16 m = Scales(block + 32) * ToFloat(LoadU8(scales + 8 * kVectorLanes));
      return {d, Zero() - m, block + 64 + 256 + sub_block * 4 * kWordBytes};
    }
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    return {head.d, head.m, Words(head.codes + g * kWordBytes)};
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    return Fma(group.d, LowNibble<0>(ShiftRight<4 * j>(group.word)), group.m);
  }
};

struct Q5_0Weights {
  static constexpr DType kDType = DType::kQ5_0;
  static constexpr int kGroup = 8;
  struct Head {
    F32x16 d;
    const char* codes;  // the words of fifth bits, then those of low bits
  };
  struct Group {
    F32x16 d;
    I32x16 low, high;  // the fifth bits start at bit 4
  };
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    const char* block = panel + k / 32 * (32 + 5 * kWordBytes);
    return {Scales(block), block + 32};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    const I32x16 high = ShiftRightBy(Words(head.codes), static_cast<int>(g * 8));
    return {head.d, Words(head.codes + (1 + g) * kWordBytes), ShiftLeft<4>(high)};
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    const I32x16 low = ShiftRight<4 * j>(group.low) & SetInt1(15);
    const I32x16 high = ShiftRight<j>(group.high) & SetInt1(16);
    return group.d * ToFloat((low | high) - SetInt1(16));
  }
};

struct Q6_KWeights {
  static constexpr DType kDType = DType::kQ6_K;
  static constexpr int kGroup = 8;
  struct Head {
    F32x16 d;
    const int8_t* scales;
    const char *low, *high;
  };
  struct Group {
    F32x16 d;
    I32x16 low, high;  // the high bits start at bit 0
  };
  TBOOST_INLINE static Head At(const char* panel, int64_t k) {
    const char* block = panel + k / 256 * (32 + 256 + (32 + 16) * kWordBytes);
    const int64_t chunk = k % 256 / 32;
    const auto* scales = reinterpret_cast<const int8_t*>(block + 32) + chunk * 2 * kVectorLanes;
    const char* low = block + 32 + 256;
    return {Scales(block), scales, low + chunk * 4 * kWordBytes,
            low + (32 + chunk * 2) * kWordBytes};
  }
  TBOOST_INLINE static Group Read(const Head& head, int64_t g) {
    const int64_t sub_block = g / 2;
    const I32x16 high = Words(head.high + sub_block * kWordBytes);
    return {head.d * ToFloat(LoadI8(head.scales + sub_block * kVectorLanes)),
            Words(head.low + g * kWordBytes), ShiftRightBy(high, static_cast<int>(g % 2 * 16))};
  }
  template <int j>
  TBOOST_INLINE static F32x16 Value(const Group& group) {
    const I32x16 low = ShiftRight<4 * j>(group.low) & SetInt1(15);
    const I32x16 high = [&]() TBOOST_INLINE_LAMBDA {
      if constexpr (j <= 2)
        return ShiftLeft<4 - 2 * j>(group.high);
      else
        return ShiftRight<2 * j - 4>(group.high);
    }() & SetInt1(48);
    return group.d * ToFloat((low | high) - SetInt1(32));
  }
};

// visit(Weights{}) for the format of `dtype`.
template <class Visit>
TBOOST_INLINE void WithWeights(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kF16:
      return visit(HalfWeights<DType::kF16>{});
    case DType::kBF16:
      return visit(HalfWeights<DType::kBF16>{});
    case DType::kQ8_0:
      return visit(Q8_0Weights{});
    case DType::kQ4_0:
      return visit(Q4_0Weights{});
    case DType::kQ4_1:
      return visit(NibbleWeights<DType::kQ4_1>{});
    case DType::kQ5_0:
      return visit(Q5_0Weights{});
    case DType::kQ4_K:
      return visit(NibbleWeights<DType::kQ4_K>{});
    case DType::kQ6_K:
      return visit(Q6_KWeights{});
    default:
      return visit(F32Weights{});
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
