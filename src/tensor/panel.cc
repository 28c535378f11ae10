#include "src/tensor/panel.h"

#include <cstring>

#include "src/base/checked.h"
#include "src/tensor/block_fields.h"

namespace tboost {
namespace {

enum class Direction { kPack, kUnpack };

// Elements of k that lie side by side in a panel, of types that are no blocks.
int Interleave(const DTypeInfo& info) {
  return info.row_bytes > 0 ? 4 : info.block_bytes == 2 ? 2 : 1;
}

// What columns and k that are none hold: the code of zero. A padding column's scale is no zero
// then, but multiplies zeros only.
int PaddingByte(const DTypeInfo& info) { return info.row_bytes > 0 ? info.largest_code + 1 : 0; }

bool Packable(const DTypeInfo& info) {
  return info.quantised() || info.dtype == DType::kF32 || info.dtype == DType::kF16 ||
         info.dtype == DType::kBF16;
}

// One column of a panel of a plain type of kBytes bytes. Rows may lie at any address.
template <Direction direction, int kBytes>
void MovePlain(uint8_t* row, uint8_t* panel, int column, int64_t k) {
  constexpr int kRun = kBytes == 2 ? 2 : 1;
  for (int64_t i = 0; i < k; ++i) {
    uint8_t* in_panel = panel + ((i / kRun * kPanelColumns + column) * kRun + i % kRun) * kBytes;
    uint8_t* in_row = row + i * kBytes;
    if constexpr (direction == Direction::kPack)
      std::memcpy(in_panel, in_row, kBytes);
    else
      std::memcpy(in_row, in_panel, kBytes);
  }
}

// One column of a panel of int8 or int7.
template <Direction direction>
void MoveCodes(const DTypeInfo& info, uint8_t* row, uint8_t* panel, int column, int64_t k) {
  constexpr int kRun = 4;
  const auto offset = static_cast<uint8_t>(info.largest_code + 1);
  constexpr int kWord = 4;  // scale and sum are one word each
  for (int at = 0; at < info.row_bytes; at += kWord) {
    uint8_t* word = panel + at * kPanelColumns + column * kWord;
    if constexpr (direction == Direction::kPack)
      std::memcpy(word, row + at, kWord);
    else
      std::memcpy(row + at, word, kWord);
  }
  row += info.row_bytes;
  panel += kPanelColumns * info.row_bytes;
  for (int64_t i = 0; i < k; ++i) {
    uint8_t& in_panel = panel[(i / kRun * kPanelColumns + column) * kRun + i % kRun];
    if constexpr (direction == Direction::kPack)
      in_panel = static_cast<uint8_t>(row[i] + offset);
    else
      row[i] = static_cast<uint8_t>(in_panel - offset);
  }
}

// One column of a panel of a blocked type. What is written to is zero before.
template <Direction direction>
void MoveBlocks(const DTypeInfo& info, uint8_t* row, uint8_t* panel, int column, int64_t k) {
  const auto fields = BlockFields(info.dtype);
  for (int64_t block = 0; block < k / info.block_elements; ++block) {
    for (const BlockField& f : fields) {
      const unsigned mask = (1u << f.bits) - 1;
      uint8_t& in_row = row[f.file_byte];
      uint8_t& in_panel = panel[f.panel_byte + column * f.column_stride];
      if constexpr (direction == Direction::kPack)
        in_panel |= static_cast<uint8_t>((in_row >> f.file_shift & mask) << f.panel_shift);
      else
        in_row |= static_cast<uint8_t>((in_panel >> f.panel_shift & mask) << f.file_shift);
    }
    row += info.block_bytes;
    panel += kPanelColumns * info.panel_block_bytes;
  }
}

// Rows [first, first + rows) of `panels`, to or from `row_data`; panels are counted from panel 0.
template <Direction direction>
void MoveRows(DType dtype, uint8_t* row_data, uint8_t* panels, int64_t first, int64_t rows,
              int64_t k) {
  const DTypeInfo& info = Info(dtype);
  const auto row_bytes = static_cast<int64_t>(RowBytes(dtype, k).value_or(0));
  const auto panel_bytes = static_cast<int64_t>(PanelBytes(dtype, k).value_or(0));
  for (int64_t r = first; r < first + rows; ++r) {
    uint8_t* row = row_data + (r - first) * row_bytes;
    uint8_t* panel = panels + r / kPanelColumns * panel_bytes;
    const int column = static_cast<int>(r % kPanelColumns);
    if (info.row_bytes > 0)
      MoveCodes<direction>(info, row, panel, column, k);
    else if (info.quantised())
      MoveBlocks<direction>(info, row, panel, column, k);
    else if (info.block_bytes == 2)
      MovePlain<direction, 2>(row, panel, column, k);
    else
      MovePlain<direction, 4>(row, panel, column, k);
  }
}

}  // namespace

std::optional<uint64_t> PanelBytes(DType dtype, int64_t k) {
  const DTypeInfo& info = Info(dtype);
  if (!Packable(info) || k < 0 || k % info.block_elements != 0) return std::nullopt;
  const uint64_t blocks = RoundUp(static_cast<uint64_t>(k / info.block_elements), Interleave(info));
  const auto column = CheckedMul(blocks, info.panel_block_bytes);
  const auto with_scale = column ? CheckedAdd(*column, info.row_bytes) : std::nullopt;
  return with_scale ? CheckedMul(*with_scale, kPanelColumns) : std::nullopt;
}

std::optional<uint64_t> PackedBytes(DType dtype, int64_t n, int64_t k) {
  const auto panel = PanelBytes(dtype, k);
  if (!panel || n < 0) return std::nullopt;
  return CheckedMul(DivUp(static_cast<uint64_t>(n), kPanelColumns), *panel);
}

void PackPanels(DType dtype, const void* row_data, int64_t rows, int64_t k, void* panels) {
  std::memset(panels, PaddingByte(Info(dtype)), PackedBytes(dtype, rows, k).value_or(0));
  // Packing only reads the rows.
  auto* source = const_cast<uint8_t*>(static_cast<const uint8_t*>(row_data));
  MoveRows<Direction::kPack>(dtype, source, static_cast<uint8_t*>(panels), 0, rows, k);
}

void UnpackPanels(DType dtype, const void* panels, int64_t first, int64_t rows, int64_t k,
                  void* row_data) {
  std::memset(row_data, 0, static_cast<uint64_t>(rows) * RowBytes(dtype, k).value_or(0));
  // Unpacking only reads the panels.
  auto* source = const_cast<uint8_t*>(static_cast<const uint8_t*>(panels));
  MoveRows<Direction::kUnpack>(dtype, static_cast<uint8_t*>(row_data), source, first, rows, k);
}

}  // namespace tboost
