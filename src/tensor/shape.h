// A small inline list of dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace tboost {

// Up to 8 non-negative dimensions, outermost first. A value type.
class Shape {
 public:
  static constexpr int kMaxRank = 8;
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims)
      : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
    for (int i = 0; i < rank_; ++i) dims_[i] = dims[i];
  }
  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[i]; }
  int64_t& operator[](int i) { return dims_[i]; }
  int64_t back() const { return dims_[rank_ - 1]; }
  void push_back(int64_t dim) { dims_[rank_++] = dim; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  // The product of all dimensions (1 for a scalar). Call CheckedElements on untrusted shapes first.
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : *this) n *= d;
    return n;
  }
  bool operator==(const Shape& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  std::string ToString() const;  // "[3, 4]"

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// elements(), or nullopt where there are more than kMaxRank dimensions, one is negative, or the
// product, taken from the left, passes 2^62.
std::optional<uint64_t> CheckedElements(std::span<const int64_t> dims);

}  // namespace tboost
