// One row for each sequence.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

enum class PoolKind : uint8_t { kMean, kCls, kLast, kMax };

struct PoolAttributes {
  PoolKind kind = PoolKind::kMean;
  template <class V>
  void VisitFields(V& v) {
    v("kind", kind, "mean or maximum of the rows, the first (cls) or the last one");
  }
};

}  // namespace tboost::ops

namespace tboost {
template <>
struct EnumNames<ops::PoolKind> {
  using E = ops::PoolKind;
  static constexpr std::pair<E, std::string_view> kNames[] = {
      {E::kMean, "mean"}, {E::kCls, "cls"}, {E::kLast, "last"}, {E::kMax, "max"}};
};
}  // namespace tboost
