#include "src/tensor/panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "src/base/random.h"
#include "src/tensor/block_fields.h"
#include "src/tensor/float16.h"

namespace tboost {
namespace {

constexpr DType kPackable[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ8_0,
                               DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ4_K,
                               DType::kQ6_K, DType::kInt8, DType::kInt7};

std::vector<uint8_t> RandomBytes(size_t size, uint64_t stream) {
  const HashRandom random(7, stream);
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(random.Bits(i));
  return bytes;
}

// The elements of a .npy file of one dimension.
template <class T>
std::vector<T> ReadGolden(const std::string& name) {
  std::ifstream file(std::string(TBOOST_SOURCE_DIR) + "/tests/golden/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  if (bytes.size() < 10) return {};
  const size_t start = 10 + static_cast<uint8_t>(bytes[8]) + 256 * static_cast<uint8_t>(bytes[9]);
  std::vector<T> elements((bytes.size() - start) / sizeof(T));
  std::memcpy(elements.data(), bytes.data() + start, elements.size() * sizeof(T));
  return elements;
}

TEST(Panel, FieldsCoverEachBitOfBlockAndPanelOnce) {
  for (const DTypeInfo& info : AllDTypes()) {
    std::set<int> file_bits, panel_bits;
    int bits = 0;
    for (const BlockField& f : BlockFields(info.dtype)) {
      for (int b = 0; b < f.bits; ++b, ++bits) {
        file_bits.insert(f.file_byte * 8 + f.file_shift + b);
        for (int column = 0; column < kPanelColumns; ++column)
          panel_bits.insert((f.panel_byte + column * f.column_stride) * 8 + f.panel_shift + b);
      }
    }
    if (info.block_elements == 1) {
      EXPECT_EQ(bits, 0) << info.name;
      continue;
    }
    EXPECT_EQ(bits, info.block_bytes * 8) << info.name;
    EXPECT_EQ(file_bits.size(), static_cast<size_t>(bits)) << info.name;
    EXPECT_EQ(*file_bits.rbegin(), bits - 1) << info.name;
    EXPECT_EQ(panel_bits.size(), static_cast<size_t>(bits) * kPanelColumns) << info.name;
    EXPECT_LT(*panel_bits.rbegin(), info.panel_block_bytes * kPanelColumns * 8) << info.name;
  }
}

TEST(Panel, UnpackingGivesTheBytesThatWerePacked) {
  for (const DType dtype : kPackable) {
    for (const int64_t rows : {1, 15, 16, 17, 40}) {
      for (const int64_t k : {256, 768, 1, 7}) {
        const auto packed_bytes = PackedBytes(dtype, rows, k);
        if (!packed_bytes) continue;
        const uint64_t row_bytes = *RowBytes(dtype, k);
        const auto source = RandomBytes(rows * row_bytes, rows * 1000 + k);
        std::vector<uint8_t> panels(*packed_bytes + 1, 0xab), back(rows * row_bytes + 1, 0xcd);
        PackPanels(dtype, source.data(), rows, k, panels.data());
        EXPECT_EQ(panels.back(), 0xab);
        UnpackPanels(dtype, panels.data(), 0, rows, k, back.data());
        EXPECT_EQ(back.back(), 0xcd);
        back.pop_back();
        EXPECT_EQ(back, source) << DTypeName(dtype) << " " << rows << " x " << k;

        const int64_t first = rows / 2;
        std::vector<uint8_t> tail((rows - first) * row_bytes);
        UnpackPanels(dtype, panels.data(), first, rows - first, k, tail.data());
        EXPECT_TRUE(std::equal(tail.begin(), tail.end(), source.begin() + first * row_bytes));
      }
    }
  }
}

TEST(Panel, RowsMayLieAtAnyAddress) {
  const auto bytes = RandomBytes(1 + 3 * 5 * 4, 1);
  std::vector<float> aligned(15), panel(5 * 16), expected(5 * 16);
  std::memcpy(aligned.data(), bytes.data() + 1, 60);
  PackPanels(DType::kF32, aligned.data(), 3, 5, expected.data());
  PackPanels(DType::kF32, bytes.data() + 1, 3, 5, panel.data());
  EXPECT_EQ(std::memcmp(panel.data(), expected.data(), 5 * 16 * 4), 0);
}

TEST(Panel, LayoutOfPlainTypes) {
  const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::vector<float> panel(3 * 16, -1);
  PackPanels(DType::kF32, rows, 2, 3, panel.data());
  EXPECT_EQ(panel[0], 1);
  EXPECT_EQ(panel[1], 4);
  EXPECT_EQ(panel[2], 0);
  EXPECT_EQ(panel[2 * 16 + 1], 6);
  const uint16_t halves[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::vector<uint16_t> pairs(4 * 16, 99);
  PackPanels(DType::kBF16, halves, 2, 3, pairs.data());
  EXPECT_EQ(pairs[0], 1);
  EXPECT_EQ(pairs[1], 2);
  EXPECT_EQ(pairs[2], 4);
  EXPECT_EQ(pairs[3], 5);
  EXPECT_EQ(pairs[32], 3);
  EXPECT_EQ(pairs[33], 0);  // k is odd
}

// Codes 0, 1, 2... in the order of k must stand in that order in the words of the panel.
TEST(Panel, CodesOfAPanelAscendWithK) {
  std::vector<uint8_t> block(18, 0);
  for (int i = 0; i < 16; ++i) block[2 + i] = static_cast<uint8_t>(i | (15 - i) << 4);
  std::vector<uint32_t> panel(18 * 16 / 4);
  PackPanels(DType::kQ4_0, block.data(), 1, 32, panel.data());
  EXPECT_EQ(panel[8], 0x76543210u);
  EXPECT_EQ(panel[8 + 16], 0xfedcba98u);
  EXPECT_EQ(panel[8 + 32], 0x89abcdefu);
  EXPECT_EQ(panel[8 + 48], 0x01234567u);
}

TEST(Panel, LayoutOfChannelCodes) {
  for (const DType dtype : {DType::kInt8, DType::kInt7}) {
    const float largest = static_cast<float>(Info(dtype).largest_code);
    const float rows[2][5] = {{0, 1, -0.5f, 0.25f, 0}, {2 * largest, 8, 0, -6, -4}};
    std::vector<uint8_t> stored(2 * *RowBytes(dtype, 5)), panel(*PackedBytes(dtype, 2, 5));
    for (int r = 0; r < 2; ++r) ConvertRow(rows[r], 5, dtype, stored.data() + r * 13);
    PackPanels(dtype, stored.data(), 2, 5, panel.data());
    float scales[2];
    std::memcpy(scales, panel.data(), sizeof scales);
    EXPECT_EQ(scales[0], 1 / largest);
    EXPECT_EQ(scales[1], 2);
    const int zero = Info(dtype).largest_code + 1;
    int32_t sums[2];
    std::memcpy(sums, panel.data() + 64, sizeof sums);
    EXPECT_EQ(sums[1], zero - 1 + 4 - 3 - 2);
    const uint8_t* codes = panel.data() + 128;
    EXPECT_EQ(codes[1], zero + zero - 1);
    EXPECT_EQ(codes[4 + 1], zero + 4);
    EXPECT_EQ(codes[4 + 3], zero - 3);
    EXPECT_EQ(codes[64 + 4], zero - 2);
    EXPECT_EQ(codes[64 + 5], zero);  // k is padded
    EXPECT_EQ(codes[2 * 4], zero);   // so are columns
  }
}

TEST(Panel, SizesAreChecked) {
  EXPECT_EQ(PanelBytes(DType::kF32, 3), 192u);
  EXPECT_EQ(PanelBytes(DType::kF16, 3), 128u);
  EXPECT_EQ(PanelBytes(DType::kQ4_K, 512), 2 * 148 * 16u);
  EXPECT_EQ(PackedBytes(DType::kQ4_1, 17, 64), 2 * 2 * 320u);
  EXPECT_EQ(PanelBytes(DType::kInt8, 5), 2 * 64u + 2 * 64);
  EXPECT_EQ(PanelBytes(DType::kQ4_K, 255), std::nullopt);
  EXPECT_EQ(PanelBytes(DType::kQ4_1, 33), std::nullopt);
  EXPECT_EQ(PanelBytes(DType::kI32, 32), std::nullopt);
  EXPECT_EQ(PanelBytes(DType::kF32, -1), std::nullopt);
  EXPECT_EQ(PackedBytes(DType::kF32, -1, 1), std::nullopt);
  EXPECT_EQ(PackedBytes(DType::kF32, std::numeric_limits<int64_t>::max(), int64_t{1} << 40),
            std::nullopt);
}

TEST(Dequantize, EqualsThePublishedImplementation) {
  const auto blocks = ReadGolden<uint8_t>("quant_blocks.npy");
  const auto values = ReadGolden<float>("quant_values.npy");
  size_t block = 0, value = 0;
  for (const DType dtype :
       {DType::kQ8_0, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ4_K, DType::kQ6_K}) {
    const int64_t k = 3 * Info(dtype).block_elements;
    ASSERT_LE(value + k, values.size());
    std::vector<float> out(k);
    DequantizeRow(dtype, blocks.data() + block, k, out.data());
    for (int64_t i = 0; i < k; ++i)
      ASSERT_EQ(out[i], values[value + i]) << DTypeName(dtype) << " element " << i;
    block += *StorageBytes(dtype, k);
    value += k;
  }
  EXPECT_EQ(block, blocks.size());
  EXPECT_EQ(value, values.size());
}

// The value of f16 bits by its definition.
double DefinedF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

TEST(Float16, EveryNumberConvertsAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = F16ToFloat(half);
    const double defined = DefinedF16(half);
    if (std::isnan(defined)) {
      EXPECT_TRUE(std::isnan(value) && std::isnan(F16ToFloat(FloatToF16(value))));
    } else {
      ASSERT_EQ(value, defined);
      ASSERT_EQ(FloatToF16(value), half);
    }
    const float brain = BF16ToFloat(half);
    if (std::isnan(brain))
      EXPECT_TRUE(std::isnan(BF16ToFloat(FloatToBF16(brain))));
    else
      ASSERT_EQ(FloatToBF16(brain), half);
  }
}

TEST(Float16, RoundsToNearestEven) {
  for (uint16_t bits = 0; bits < 0x7c00; ++bits) {  // between each number and the next
    const double low = DefinedF16(bits), high = bits == 0x7bff ? 65536 : DefinedF16(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(FloatToF16(middle), bits + (bits & 1)) << middle;
    ASSERT_EQ(FloatToF16(std::nextafterf(middle, 0)), bits);
    ASSERT_EQ(FloatToF16(-std::nextafterf(middle, 1e9f)), (bits + 1) | 0x8000);
  }
  EXPECT_EQ(FloatToF16(1e30f), 0x7c00);
  EXPECT_EQ(FloatToBF16(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // ties to even
  EXPECT_EQ(FloatToBF16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(FloatToBF16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(FloatToBF16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Float16, RowsConvertBothWays) {
  const float row[] = {1.0f, -2.5f, 0.1f, 70000.0f};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    std::vector<uint8_t> stored(*StorageBytes(dtype, 4));
    float back[4];
    ConvertRow(row, 4, dtype, stored.data());
    DequantizeRow(dtype, stored.data(), 4, back);
    EXPECT_EQ(back[0], 1.0f);
    EXPECT_EQ(back[1], -2.5f);
    EXPECT_NEAR(back[2], 0.1f, 3e-4f);
    EXPECT_EQ(std::isinf(back[3]), dtype == DType::kF16);
  }
}

TEST(ConvertRow, ChannelCodesAreWithinHalfAStep) {
  const HashRandom random(3, "row");
  for (const DType dtype : {DType::kInt8, DType::kInt7}) {
    constexpr int kColumns = 200;
    std::vector<float> row(kColumns), back(kColumns);
    for (int i = 0; i < kColumns; ++i) row[i] = random.Normal(i) * (i == 7 ? 100.0f : 1.0f);
    std::vector<uint8_t> stored(*RowBytes(dtype, kColumns));
    ConvertRow(row.data(), kColumns, dtype, stored.data());
    DequantizeRow(dtype, stored.data(), kColumns, back.data());
    float scale;
    std::memcpy(&scale, stored.data(), sizeof scale);
    for (int i = 0; i < kColumns; ++i) {
      EXPECT_NEAR(back[i], row[i], 0.5001f * scale);
      EXPECT_LE(std::abs(back[i] / scale), static_cast<float>(Info(dtype).largest_code) + 1e-3f);
    }
    EXPECT_EQ(back[7], row[7]);
    std::fill(row.begin(), row.end(), 0.0f);
    ConvertRow(row.data(), kColumns, dtype, stored.data());
    EXPECT_EQ(stored, std::vector<uint8_t>(stored.size(), 0));
    row[3] = std::nanf("");
    ConvertRow(row.data(), kColumns, dtype, stored.data());
    DequantizeRow(dtype, stored.data(), kColumns, back.data());
    EXPECT_TRUE(std::isnan(back[0]));
  }
}

}  // namespace
}  // namespace tboost
