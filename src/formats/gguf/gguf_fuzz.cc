#include "src/formats/gguf/gguf.h"

// Parses a file, then reads everything its metadata and tensors promise.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto contents = tboost::ParseGguf(bytes, "fuzz");
  if (!contents.ok()) return 0;
  const tboost::GgufMetadata& metadata = contents->metadata;
  for (const tboost::GgufEntry& entry : metadata.entries()) {
    if (metadata.Find(entry.key) != &entry.value || entry.value.ToString().empty())
      __builtin_trap();
    (void)metadata.Get<bool>(entry.key, false);
    (void)metadata.Get<int64_t>(entry.key, 0);
    (void)metadata.Get<double>(entry.key, 0);
    (void)metadata.Get<std::string_view>(entry.key, "");
    const auto array = metadata.Require<tboost::GgufArray>(entry.key);
    if (!array.ok()) continue;
    const size_t elements =
        array->Strings().size() + array->Arrays().size() + array->Doubles().size();
    if (elements != array->size || array->Integers().size() > array->size) __builtin_trap();
  }
  for (const tboost::RawTensor& tensor : contents->tensors)
    if (tensor.offset > size || tensor.bytes > size - tensor.offset) __builtin_trap();
  return 0;
}
