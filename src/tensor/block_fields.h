// Where every bit of a blocked format lies: in a block as files store it, and in a packed panel.
// The packing of all these formats is this table.
#pragma once

#include <cstdint>
#include <span>

#include "src/tensor/dtype.h"

namespace tboost {

// `bits` bits that stay together: at file_shift of the byte file_byte of a block, and at
// panel_shift of the byte panel_byte + column * column_stride of that block of the panel.
struct BlockField {
  uint16_t file_byte;
  uint16_t panel_byte;
  uint8_t file_shift;
  uint8_t panel_shift;
  uint8_t bits;
  uint8_t column_stride;
};

// The fields of a quantised format; they cover each bit of its block in a file exactly once.
std::span<const BlockField> BlockFields(DType dtype);

}  // namespace tboost
