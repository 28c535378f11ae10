#include "src/tensor/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tboost {
namespace {

TEST(BufferTest, IsAlignedAndZeroed) {
  for (size_t bytes :
       {size_t{1}, size_t{100}, (size_t{1} << 20) - 1, size_t{1} << 20, (size_t{3} << 20) + 5}) {
    Result<Buffer> buffer = Buffer::Allocate(bytes);
    ASSERT_TRUE(buffer.ok());
    ASSERT_EQ(buffer->size(), bytes);
    const uintptr_t alignment = bytes < (size_t{1} << 20) ? 64 : 4096;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % alignment, 0u);
    EXPECT_TRUE(std::all_of(buffer->data(), buffer->data() + bytes, [](char c) { return c == 0; }));
    std::fill_n(buffer->data(), bytes, 'x');
  }
}

TEST(BufferTest, EmptyNeedsNoMemory) {
  const Result<Buffer> buffer = Buffer::Allocate(0);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->size(), 0u);
}

TEST(BufferTest, ImpossibleSizesAreErrors) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    const Result<Buffer> buffer = Buffer::Allocate(bytes);
    ASSERT_FALSE(buffer.ok());
    EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
  }
}

TEST(BufferTest, MovesKeepOneOwner) {
  Buffer a = *Buffer::Allocate(100);
  char* const data = a.data();
  Buffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT: moved-from buffers are empty
  EXPECT_EQ(a.size(), 0u);
  Buffer c = *Buffer::Allocate(size_t{2} << 20);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(b.size(), 0u);  // NOLINT
}

}  // namespace
}  // namespace tboost
