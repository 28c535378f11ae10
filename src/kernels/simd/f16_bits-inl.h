// f16 by integer arithmetic, for instruction sets without conversion instructions. Included at the
// end of their headers only.
#pragma once

namespace tboost::kernels::TBOOST_ISA::native {

// The value of the f16 in the low 16 bits of each lane; the other bits are zero.
TBOOST_INLINE VF F16BitsToFloat(VI bits) {
  const VI magnitude = ShiftLeft<13>(And(bits, SetInt1(0x7fff)));
  const VI sign = ShiftLeft<16>(And(bits, SetInt1(0x8000)));
  // The exponent's bias differs by 112; the product is exact, also for what is subnormal in f16.
  const VF finite = Mul(AsFloat(magnitude), Set1(0x1p112f));
  const VF special = AsFloat(Or(magnitude, SetInt1(0x7f800000)));  // infinity and NaN
  const VF value = Select(Less(finite, Set1(65536.0f)), finite, special);
  return AsFloat(Or(AsInt(value), sign));
}

TBOOST_INLINE VF LoadF16(const uint16_t* p) { return F16BitsToFloat(LoadU16(p)); }
TBOOST_INLINE void LoadF16Pairs(const void* p, VF& even, VF& odd) {
  const VI words = LoadInt(static_cast<const int32_t*>(p));
  even = F16BitsToFloat(And(words, SetInt1(0xffff)));
  odd = F16BitsToFloat(ShiftRight<16>(words));
}

}  // namespace tboost::kernels::TBOOST_ISA::native
