#include "src/tensor/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/tensor/view.h"

namespace tboost {
namespace {

TEST(ShapeTest, Basics) {
  Shape shape{3, 4};
  EXPECT_EQ(shape.ToString(), "[3, 4]");
  EXPECT_EQ(Shape().ToString(), "[]");
  EXPECT_EQ(shape.elements(), 12);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(shape.back(), 4);
  EXPECT_NE(shape, Shape({3, 4, 1}));
  shape.push_back(2);
  EXPECT_EQ(shape, Shape({3, 4, 2}));
}

TEST(ShapeTest, CheckedElements) {
  const int64_t half = int64_t{1} << 31;
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(CheckedElements(Dims{}), 1u);
  EXPECT_EQ(CheckedElements(Dims{2, 0, 5}), 0u);
  EXPECT_EQ(CheckedElements(Dims{half, half}), uint64_t{1} << 62);
  EXPECT_FALSE(CheckedElements(Dims{half, half, 2}).has_value());
  EXPECT_FALSE(CheckedElements(Dims{half, half, 4, 0}).has_value());
  EXPECT_FALSE(CheckedElements(Dims{INT64_MAX, INT64_MAX}).has_value());
  EXPECT_FALSE(CheckedElements(Dims{3, -1}).has_value());
  EXPECT_EQ(CheckedElements(Dims(8, 1)), 1u);
  EXPECT_FALSE(CheckedElements(Dims(9, 1)).has_value());
}

TEST(TensorViewTest, RowsAndStride) {
  TensorView view;
  EXPECT_EQ(view.rows(), 1);  // a scalar
  EXPECT_EQ(view.stride(), 1);
  view.shape = {2, 3, 5};
  EXPECT_EQ(view.rows(), 6);
  EXPECT_EQ(view.stride(), 5);
  view.row_stride = 8;
  EXPECT_EQ(view.stride(), 8);
  view.shape = {2, 0};
  EXPECT_EQ(view.rows(), 0);
}

}  // namespace
}  // namespace tboost
