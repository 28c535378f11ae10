#include <gtest/gtest.h>

#include <cstring>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

TEST(Embed, RowsOfEveryFormat) {
  constexpr int64_t kRows = 37, kWidth = 512;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0,
                            DType::kQ4_1, DType::kQ5_0, DType::kQ4_K, DType::kQ6_K}) {
    SCOPED_TRACE(DTypeName(dtype));
    const int64_t row_bytes = static_cast<int64_t>(*StorageBytes(dtype, kWidth));
    std::vector<char> rows(kRows * row_bytes), panels(*PackedBytes(dtype, kRows, kWidth));
    const HashRandom random(1, "embed");
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(random.Bits(i));
    PackPanels(dtype, rows.data(), kRows, kWidth, panels.data());
    std::vector<int32_t> ids = {36, 0, 15, 16, 16, 31, 32, 5};
    for (int i = 0; i < 20; ++i) ids.push_back(i * 11 % kRows);  // more than one task
    for (const KernelTable* table : TestedTables()) {
      EmbedArgs args;
      args.tokens = static_cast<int64_t>(ids.size());
      args.k = kWidth;
      args.ids = ids.data();
      args.dtype = dtype;
      args.panels = panels.data();
      args.scale = 3;
      args.ldo = kWidth + 1;
      std::vector<float> out(args.tokens * args.ldo, -7.0f);
      args.out = out.data();
      RunKernel(table->embed, args);
      for (size_t t = 0; t < ids.size(); ++t) {
        std::vector<float> want(kWidth);
        DequantizeRow(dtype, &rows[ids[t] * row_bytes], kWidth, want.data());
        for (float& value : want) value *= 3;
        for (int64_t i = 0; i < kWidth; ++i) {
          const float got = out[t * args.ldo + i];
          ASSERT_TRUE(got == want[i] || (got != got && want[i] != want[i])) << i;  // or both NaN
        }
        EXPECT_EQ(out[t * args.ldo + kWidth], -7);
      }
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
