#include "src/tensor/block_fields.h"

#include <array>

namespace tboost {
namespace {

constexpr int kColumns = 16;
constexpr int kWordBytes = 4;

// A table that is filled part by part, in the order of the panel.
struct Fields {
  std::array<BlockField, 600> field{};
  int count = 0;
  int panel_end = 0;  // where the next part starts

  constexpr void Add(int file_bit, int panel_byte, int panel_bit, int bits, int column_stride) {
    field[count++] = {
        static_cast<uint16_t>(file_bit / 8), static_cast<uint16_t>(panel_byte + panel_bit / 8),
        static_cast<uint8_t>(file_bit % 8),  static_cast<uint8_t>(panel_bit % 8),
        static_cast<uint8_t>(bits),          static_cast<uint8_t>(column_stride)};
  }

  // [16] numbers of `bytes` bytes.
  constexpr void Number(int file_byte, int bytes) {
    for (int i = 0; i < bytes; ++i) Add((file_byte + i) * 8, panel_end, i * 8, 8, bytes);
    panel_end += kColumns * bytes;
  }

  // `bits` bits that start `panel_bit` bits into the words, which stand as [16] for every 32 bits.
  constexpr void InWords(int file_bit, int panel_bit, int bits) {
    Add(file_bit, panel_end + panel_bit / 32 * kColumns * kWordBytes, panel_bit % 32, bits,
        kWordBytes);
  }
  constexpr void EndWords(int words) { panel_end += words * kColumns * kWordBytes; }

  // `elements` codes of `bits` bits. `file_bit(i)` tells where code i lies in the file.
  template <class FileBit>
  constexpr void Codes(int elements, int bits, FileBit file_bit) {
    for (int i = 0; i < elements; ++i) InWords(file_bit(i), i * bits, bits);
    EndWords(elements * bits / 32);
  }
};

// Nibbles whose low halves hold the first `run` elements of every 2 * run, and the high halves the
// others.
constexpr auto Nibbles(int first_byte, int run) {
  return
      [=](int i) { return (first_byte + i / (2 * run) * run + i % run) * 8 + (i / run % 2) * 4; };
}

constexpr Fields Q8_0() {
  Fields f;
  f.Number(0, 2);
  f.Codes(32, 8, [](int i) { return (2 + i) * 8; });
  return f;
}

constexpr Fields Q4_0() {
  Fields f;
  f.Number(0, 2);
  f.Codes(32, 4, Nibbles(2, 16));
  return f;
}

constexpr Fields Q4_1() {
  Fields f;
  f.Number(0, 2);
  f.Number(2, 2);
  f.Codes(32, 4, Nibbles(4, 16));
  return f;
}

constexpr Fields Q5_0() {
  Fields f;
  f.Number(0, 2);
  constexpr int kHighBits = 2 * 8;
  const auto nibble = Nibbles(6, 16);
  for (int i = 0; i < 32; ++i) {  // the lowest bit, the nibble's others, the fifth bit
    f.InWords(nibble(i), i % 8 / 2 * 8 + i / 8 * 2 + i % 2, 1);
    f.InWords(nibble(i) + 1, 32 + i * 4, 3);
    f.InWords(kHighBits + i, 32 + i * 4 + 3, 1);
  }
  f.EndWords(5);
  return f;
}

constexpr Fields Q4_K() {
  Fields f;
  f.Number(0, 2);
  f.Number(2, 2);
  // Eight scales and eight minimums of 6 bits in 12 bytes: the first four of each lie whole in
  // bytes 0-3 and 4-7; of the others bytes 8-11 hold the low 4 bits, and those bytes' top bits the
  // rest.
  constexpr int kScales = 4, kMinimums = 8, kLowBits = 12;
  for (const int kind : {0, 1}) {
    const int first_byte = kind == 0 ? kScales : kMinimums;
    for (int j = 0; j < 8; ++j) {
      const int panel_byte = f.panel_end + j * kColumns;
      if (j < 4) {
        f.Add((first_byte + j) * 8, panel_byte, 0, 6, 1);
      } else {
        f.Add((kLowBits + j - 4) * 8 + kind * 4, panel_byte, 0, 4, 1);
        f.Add((first_byte + j - 4) * 8 + 6, panel_byte, 4, 2, 1);
      }
    }
    f.panel_end += 8 * kColumns;
  }
  f.Codes(256, 4, Nibbles(16, 32));
  return f;
}

constexpr Fields Q6_K() {
  Fields f;
  constexpr int kHighBits = 128, kScales = 192, kD = 208;
  f.Number(kD, 2);
  for (int j = 0; j < 16; ++j) f.Number(kScales + j, 1);
  const auto low = Nibbles(0, 64);
  const auto high = [](int i) {  // a byte holds elements i, i + 32, i + 64 and i + 96 of a half
    return (kHighBits + i / 128 * 32 + i % 32) * 8 + i / 32 % 4 * 2;
  };
  for (int i = 0; i < 256; ++i) {
    const int words = i / 16 * 3 * 32, j = i % 16;  // where those of 16 codes start
    if (j < 12) {
      f.InWords(low(i), words + j * 8, 4);
      f.InWords(high(i), words + j * 8 + 4, 2);
    } else {
      const int top_bits = words + (j - 12) * 8 + 6;
      f.InWords(low(i), top_bits, 2);
      f.InWords(low(i) + 2, top_bits + 32, 2);
      f.InWords(high(i), top_bits + 64, 2);
    }
  }
  f.EndWords(48);
  return f;
}

struct Entry {
  DType dtype;
  Fields fields;
};
constexpr Entry kFormats[] = {{DType::kQ8_0, Q8_0()}, {DType::kQ4_0, Q4_0()},
                              {DType::kQ4_1, Q4_1()}, {DType::kQ5_0, Q5_0()},
                              {DType::kQ4_K, Q4_K()}, {DType::kQ6_K, Q6_K()}};

}  // namespace

std::span<const BlockField> BlockFields(DType dtype) {
  for (const Entry& entry : kFormats)
    if (entry.dtype == dtype)
      return {entry.fields.field.data(), static_cast<size_t>(entry.fields.count)};
  return {};
}

}  // namespace tboost
