// Names of the enumerations that attributes use.
#pragma once

#include <string_view>
#include <utility>

#include "src/graph/attributes.h"
#include "src/kernels/kernels.h"

namespace tboost {

template <>
struct EnumNames<kernels::Activation> {
  using E = kernels::Activation;
  static constexpr std::pair<E, std::string_view> kNames[] = {
      {E::kNone, "none"},          {E::kGeluErf, "gelu_erf"},
      {E::kGeluTanh, "gelu_tanh"}, {E::kGeluQuick, "gelu_quick"},
      {E::kSilu, "silu"},          {E::kRelu, "relu"},
      {E::kTanh, "tanh"}};
};

template <>
struct EnumNames<kernels::NormKind> {
  using E = kernels::NormKind;
  static constexpr std::pair<E, std::string_view> kNames[] = {
      {E::kNone, "none"}, {E::kLayer, "layer"}, {E::kRms, "rms"}};
};

}  // namespace tboost
