#include "src/tensor/shape.h"

#include <fmt/format.h>

#include "src/base/checked.h"

namespace tboost {

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

std::optional<uint64_t> CheckedElements(std::span<const int64_t> dims) {
  constexpr uint64_t kLimit = uint64_t{1} << 62;
  if (dims.size() > Shape::kMaxRank) return std::nullopt;
  uint64_t elements = 1;
  for (int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    const std::optional<uint64_t> product = CheckedMul(elements, static_cast<uint64_t>(dim));
    if (!product || *product > kLimit) return std::nullopt;
    elements = *product;
  }
  return elements;
}

}  // namespace tboost
