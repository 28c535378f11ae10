#include "src/formats/safetensors/safetensors.h"

// A file of tensors, or, where the input begins like JSON, the index of a sharded model.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('{')) {
    (void)tboost::ParseSafetensorsIndex(bytes, "fuzz");
    return 0;
  }
  const auto tensors = tboost::ParseSafetensors(bytes, "fuzz");
  if (!tensors.ok()) return 0;
  for (const tboost::RawTensor& tensor : *tensors)
    if (tensor.offset > size || tensor.bytes > size - tensor.offset) __builtin_trap();
  return 0;
}
