// NumPy's .npy files: f32, i32 and i64 arrays in C order.
// Source of the format: the description in NumPy's documentation of its npy format, version 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/file.h"
#include "src/base/status.h"
#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"

namespace tboost {

struct NpyArray {
  DType dtype = DType::kF32;
  Shape shape;
  std::string data;  // little-endian, row-major; aligned for any element type
};

// Parses a whole file's `bytes`; `name` starts every message. Other dtypes, Fortran order,
// big-endian data and format versions are kUnsupported.
Result<NpyArray> ParseNpy(std::string_view bytes, std::string_view name);
Result<NpyArray> ReadNpy(const std::string& path);

// Writes an array row by row, so that the number of rows need not be known. The file appears with
// Finish(), whole, or not at all. One thread at a time.
class NpyWriter {
 public:
  // The array is [rows, row_shape...]; `dtype` is f32, i32 or i64.
  static Result<NpyWriter> Create(const std::string& path, DType dtype, const Shape& row_shape);

  // Any whole number of rows.
  Status Append(std::string_view rows);
  Status Finish();

 private:
  NpyWriter(AtomicFile file, DType dtype, const Shape& row_shape, uint64_t row_bytes)
      : file_(std::move(file)), dtype_(dtype), row_shape_(row_shape), row_bytes_(row_bytes) {}
  std::string Header() const;

  AtomicFile file_;
  DType dtype_;
  Shape row_shape_;
  uint64_t row_bytes_;
  uint64_t rows_ = 0;
};

}  // namespace tboost
