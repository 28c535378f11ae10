#include "src/formats/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = tboost::ParseNpy({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!array.ok()) return 0;
  const auto bytes = tboost::StorageBytes(array->dtype, array->shape.elements());
  if (!bytes || *bytes != array->data.size()) __builtin_trap();
  return 0;
}
