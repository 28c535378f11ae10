// The rotation angles of each token.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

enum class RopeScaling : uint8_t { kNone, kLinear, kLlama3 };

struct RopeAnglesAttributes {
  double theta = 10000;
  int64_t rotary_dim = 2;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;
  double original_context = 8192;
  template <class V>
  void VisitFields(V& v) {
    v("theta", theta, "base of the frequencies");
    v("rotary_dim", rotary_dim, "elements rotated in each head; even");
    v("scaling", scaling, "none; linear: every frequency / factor; llama3: the low ones only");
    v("factor", factor, "by which the context was stretched");
    v("low_freq_factor", low_freq_factor,
      "llama3: original_context / this is the wavelength from which on frequencies are divided");
    v("high_freq_factor", high_freq_factor,
      "llama3: original_context / this is the wavelength up to which they stay");
    v("original_context", original_context, "llama3: context length before the stretch");
  }
};

}  // namespace tboost::ops

namespace tboost {
template <>
struct EnumNames<ops::RopeScaling> {
  using E = ops::RopeScaling;
  static constexpr std::pair<E, std::string_view> kNames[] = {
      {E::kNone, "none"}, {E::kLinear, "linear"}, {E::kLlama3, "llama3"}};
};
}  // namespace tboost
