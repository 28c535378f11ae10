// Vectors of 16 lanes on every instruction set: one zmm register, two ymm, four xmm, or an array.
//
// Included by NAME.isa.cc sources, which are compiled once per instruction set with TBOOST_ISA set;
// everything lives in namespace tboost::kernels::TBOOST_ISA, so no two objects share a symbol. For
// the same reason neither these headers nor ISA sources use inline functions of the standard
// library.
//
// An instruction set's header describes its registers (namespace native): types VF, VI, VM of
// kLanes lanes, functions over them, and facts for kernels (kVectorRegisters, kFusedMultiplyAdd,
// kExactDot8).
// This header lifts them to 16 lanes. Addresses need no alignment. Comparisons with NaN are false;
// Max and Min return their second operand where one is NaN.
#pragma once

#include <cstddef>
#include <cstdint>

#define TBOOST_INLINE [[gnu::always_inline]] inline
// Behind the parameter list of a lambda.
#define TBOOST_INLINE_LAMBDA __attribute__((always_inline))

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorLanes = 16;

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
  constexpr operator int() const { return kValue; }
};

template <int kCount, int kFirst = 0, class Body>
TBOOST_INLINE constexpr void Unroll(const Body& body) {  // body(Constant<0>), body(Constant<1>)...
  if constexpr (kFirst < kCount) {
    body(Constant<kFirst>{});
    Unroll<kCount, kFirst + 1>(body);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA

#if defined(TBOOST_ISA_avx512)
#include "src/kernels/simd/avx512.h"
#elif defined(TBOOST_ISA_avx2)
#include "src/kernels/simd/avx2.h"
#elif defined(TBOOST_ISA_baseline)
#include "src/kernels/simd/baseline.h"
#else
#include "src/kernels/simd/emulated.h"
#endif

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kParts = kVectorLanes / native::kLanes;

struct F32x16 {
  native::VF part[kParts];
};
struct I32x16 {
  native::VI part[kParts];
};
struct Mask16 {
  native::VM part[kParts];
};

// Result{op(part 0 of each operand), op(part 1 of each operand)...}.
template <class Result, class Op, class... Operands>
TBOOST_INLINE Result Lift(const Op& op, const Operands&... operands) {
  Result result;
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA { result.part[i] = op(operands.part[i]...); });
  return result;
}
// The same from memory: op(pointer of part 0), op(pointer of part 1)...
template <class Result, class T, class Op>
TBOOST_INLINE Result LiftLoad(const Op& op, const T* from) {
  Result result;
  Unroll<kParts>([&](auto i)
                     TBOOST_INLINE_LAMBDA { result.part[i] = op(from + i * native::kLanes); });
  return result;
}

#define TBOOST_LIFT_1(Result, Name, A)                                                   \
  TBOOST_INLINE Result Name(A a) {                                                       \
    return Lift<Result>([](auto x) TBOOST_INLINE_LAMBDA { return native::Name(x); }, a); \
  }
#define TBOOST_LIFT_2(Result, Name, Function, A, B)                                        \
  TBOOST_INLINE Result Name(A a, B b) {                                                    \
    return Lift<Result>(                                                                   \
        [](auto x, auto y) TBOOST_INLINE_LAMBDA { return native::Function(x, y); }, a, b); \
  }
#define TBOOST_LIFT_LOAD(Result, Name, T)                                                    \
  TBOOST_INLINE Result Name(const T* from) {                                                 \
    return LiftLoad<Result>([](const T* p) TBOOST_INLINE_LAMBDA { return native::Name(p); }, \
                            from);                                                           \
  }

TBOOST_LIFT_LOAD(F32x16, Load, float)
TBOOST_LIFT_LOAD(I32x16, LoadInt, int32_t)
TBOOST_LIFT_LOAD(F32x16, LoadF16, uint16_t)
TBOOST_LIFT_LOAD(I32x16, LoadU16, uint16_t)
TBOOST_LIFT_LOAD(I32x16, LoadU8, uint8_t)
TBOOST_LIFT_LOAD(I32x16, LoadI8, int8_t)

TBOOST_LIFT_2(F32x16, operator+, Add, F32x16, F32x16)
TBOOST_LIFT_2(F32x16, operator-, Sub, F32x16, F32x16)
TBOOST_LIFT_2(F32x16, operator*, Mul, F32x16, F32x16)
TBOOST_LIFT_2(F32x16, operator/, Div, F32x16, F32x16)
TBOOST_LIFT_2(F32x16, Max, Max, F32x16, F32x16)
TBOOST_LIFT_2(F32x16, Min, Min, F32x16, F32x16)
TBOOST_LIFT_1(F32x16, Sqrt, F32x16)
TBOOST_LIFT_1(F32x16, Floor, F32x16)
TBOOST_LIFT_1(F32x16, Round, F32x16)  // to nearest, ties to even
TBOOST_LIFT_1(I32x16, ToInt, F32x16)  // to nearest, ties to even
TBOOST_LIFT_1(F32x16, ToFloat, I32x16)
TBOOST_LIFT_1(F32x16, LowNibble, I32x16)  // float(a & 15): a table lookup where that is faster
TBOOST_LIFT_1(I32x16, AsInt, F32x16)      // the bits
TBOOST_LIFT_1(F32x16, AsFloat, I32x16)
TBOOST_LIFT_2(I32x16, operator+, Add, I32x16, I32x16)
TBOOST_LIFT_2(I32x16, operator-, Sub, I32x16, I32x16)
TBOOST_LIFT_2(I32x16, operator&, And, I32x16, I32x16)
TBOOST_LIFT_2(I32x16, operator|, Or, I32x16, I32x16)
TBOOST_LIFT_2(Mask16, Less, Less, F32x16, F32x16)            // a < b
TBOOST_LIFT_2(Mask16, LessEqual, LessEqual, F32x16, F32x16)  // a <= b
TBOOST_LIFT_2(Mask16, Equal, Equal, F32x16, F32x16)
TBOOST_LIFT_2(Mask16, operator&, MaskAnd, Mask16, Mask16)

#undef TBOOST_LIFT_1
#undef TBOOST_LIFT_2
#undef TBOOST_LIFT_LOAD

TBOOST_INLINE F32x16 Set1(float value) {
  F32x16 result;
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA { result.part[i] = native::Set1(value); });
  return result;
}
TBOOST_INLINE I32x16 SetInt1(int32_t value) {
  I32x16 result;
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA { result.part[i] = native::SetInt1(value); });
  return result;
}
TBOOST_INLINE F32x16 Zero() { return Set1(0.0f); }

TBOOST_INLINE void Store(F32x16 a, float* to) {
  Unroll<kParts>([&](auto i)
                     TBOOST_INLINE_LAMBDA { native::Store(a.part[i], to + i * native::kLanes); });
}
TBOOST_INLINE void StoreI8(I32x16 a, int8_t* to) {  // the low byte of each lane
  Unroll<kParts>([&](auto i)
                     TBOOST_INLINE_LAMBDA { native::StoreI8(a.part[i], to + i * native::kLanes); });
}
// The first n lanes (0 <= n <= 16); never touches memory beyond them. The other lanes load as 0.
TBOOST_INLINE F32x16 LoadPartial(const float* from, int n) {
  F32x16 result;
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA {
    result.part[i] = native::LoadPartial(from + i * native::kLanes, n - i * native::kLanes);
  });
  return result;
}
TBOOST_INLINE void StorePartial(F32x16 a, float* to, int n) {
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA {
    native::StorePartial(a.part[i], to + i * native::kLanes, n - i * native::kLanes);
  });
}
TBOOST_INLINE Mask16 FirstLanes(int n) {  // true in lanes 0..n-1; any n
  Mask16 result;
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA {
    result.part[i] = native::FirstLanes(n - i * native::kLanes);
  });
  return result;
}

// a * b + c: fused where the instruction set can (kFusedMultiplyAdd), else two roundings.
TBOOST_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  return Lift<F32x16>(
      [](auto x, auto y, auto z) TBOOST_INLINE_LAMBDA { return native::Fma(x, y, z); }, a, b, c);
}
TBOOST_INLINE F32x16 Select(Mask16 mask, F32x16 if_true, F32x16 if_false) {
  return Lift<F32x16>([](auto m, auto x, auto y)
                          TBOOST_INLINE_LAMBDA { return native::Select(m, x, y); },
                      mask, if_true, if_false);
}
// sum + the products of the four bytes of each lane, unsigned in a and signed in b: exact where
// kExactDot8 (an instruction of its own), else where two neighbouring products stay within 16 bits.
TBOOST_INLINE I32x16 AddDot8(I32x16 sum, I32x16 a, I32x16 b) {
  return Lift<I32x16>([](auto s, auto x, auto y)
                          TBOOST_INLINE_LAMBDA { return native::AddDot8(s, x, y); },
                      sum, a, b);
}
// sum + the products of the two signed 16-bit halves of each lane, exact.
TBOOST_INLINE I32x16 AddDot16(I32x16 sum, I32x16 a, I32x16 b) {
  return Lift<I32x16>([](auto s, auto x, auto y)
                          TBOOST_INLINE_LAMBDA { return native::AddDot16(s, x, y); },
                      sum, a, b);
}
template <int kBits>
TBOOST_INLINE I32x16 ShiftLeft(I32x16 a) {
  return Lift<I32x16>(
      [](auto x) TBOOST_INLINE_LAMBDA { return native::template ShiftLeft<kBits>(x); }, a);
}
template <int kBits>
TBOOST_INLINE I32x16 ShiftRight(I32x16 a) {  // zeros shifted in
  return Lift<I32x16>(
      [](auto x) TBOOST_INLINE_LAMBDA { return native::template ShiftRight<kBits>(x); }, a);
}
template <int kBits>
TBOOST_INLINE I32x16 ShiftRightSigned(I32x16 a) {  // the sign shifted in
  return Lift<I32x16>(
      [](auto x) TBOOST_INLINE_LAMBDA { return native::template ShiftRightSigned<kBits>(x); }, a);
}
TBOOST_INLINE I32x16 ShiftRightBy(I32x16 a, int bits) {  // zeros shifted in; 0 <= bits < 32
  return Lift<I32x16>([=](auto x) TBOOST_INLINE_LAMBDA { return native::ShiftRightBy(x, bits); },
                      a);
}

TBOOST_INLINE F32x16 Abs(F32x16 a) { return AsFloat(AsInt(a) & SetInt1(0x7fffffff)); }

struct F32x16Pair {
  F32x16 even, odd;
};
// 32 numbers of 16 bits as two vectors: those at even and those at odd places.
TBOOST_INLINE F32x16Pair LoadF16Pairs(const void* from) {
  F32x16Pair result;
  const char* bytes = static_cast<const char*>(from);
  Unroll<kParts>([&](auto i) TBOOST_INLINE_LAMBDA {
    native::LoadF16Pairs(bytes + i * native::kLanes * 4, result.even.part[i], result.odd.part[i]);
  });
  return result;
}
TBOOST_INLINE F32x16Pair LoadBF16Pairs(const void* from) {
  const I32x16 words = LoadInt(static_cast<const int32_t*>(from));
  return {AsFloat(ShiftLeft<16>(words)), AsFloat(words & SetInt1(int32_t(0xffff0000u)))};
}

// To the nearest bf16, ties to even; NaN stays NaN.
TBOOST_INLINE F32x16 RoundToBF16(F32x16 a) {
  const I32x16 bits = AsInt(a), odd = ShiftRight<16>(bits) & SetInt1(1);
  const I32x16 rounded = (bits + odd + SetInt1(0x7fff)) & SetInt1(int32_t(0xffff0000u));
  return Select(LessEqual(Abs(a), Set1(__builtin_inff())), AsFloat(rounded), a + a);
}
#ifdef TBOOST_ISA_avx512_bf16
// 32 numbers rounded to bf16 (numbers below the normal ones to 0), as 16 pairs.
TBOOST_INLINE F32x16 ToBF16Pairs(F32x16 first, F32x16 second) {
  return {{native::ToBF16Pairs(first.part[0], second.part[0])}};
}
// sum + the products of pairs.
TBOOST_INLINE F32x16 AddBF16Products(F32x16 a, F32x16 b, F32x16 sum) {
  return {{native::AddBF16Products(a.part[0], b.part[0], sum.part[0])}};
}
#endif

// Sum and maximum of the lanes, folded 8, 4, 2, 1 lanes apart: the same order on every instruction
// set.
template <class Op>
TBOOST_INLINE native::VF FoldParts(F32x16 a, const Op& op) {
  if constexpr (kParts == 4) {
    a.part[0] = op(a.part[0], a.part[2]);
    a.part[1] = op(a.part[1], a.part[3]);
  }
  if constexpr (kParts >= 2) a.part[0] = op(a.part[0], a.part[1]);
  return a.part[0];
}
TBOOST_INLINE float ReduceAdd(F32x16 a) {
  return native::ReduceAdd(
      FoldParts(a, [](auto x, auto y) TBOOST_INLINE_LAMBDA { return native::Add(x, y); }));
}
TBOOST_INLINE float ReduceMax(F32x16 a) {
  return native::ReduceMax(
      FoldParts(a, [](auto x, auto y) TBOOST_INLINE_LAMBDA { return native::Max(x, y); }));
}

inline constexpr int kLineBytes = 64;  // of a cache
TBOOST_INLINE void Prefetch(const void* p) { __builtin_prefetch(p); }
TBOOST_INLINE void PrefetchL2(const void* p) { __builtin_prefetch(p, 0, 2); }  // not into L1

}  // namespace tboost::kernels::TBOOST_ISA
