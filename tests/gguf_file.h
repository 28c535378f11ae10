// Writes GGUF files for tests (the format is the GGUF specification of the ggml project).
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/bytes.h"
#include "src/base/checked.h"
#include "src/formats/gguf/metadata.h"
#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"

namespace tboost::testing {

class GgufFile {
 public:
  template <class T>
  GgufFile& Number(std::string_view key, GgufType type, T value) {
    return Key(key, type).Raw(value);
  }
  GgufFile& Integer(std::string_view key, int64_t value) {
    return Number(key, GgufType::kU32, static_cast<uint32_t>(value));
  }
  GgufFile& Real(std::string_view key, double value) {
    return Number(key, GgufType::kF32, static_cast<float>(value));
  }
  GgufFile& Text(std::string_view key, std::string_view text) {
    Key(key, GgufType::kString);
    entries_.WriteString(text);
    return *this;
  }
  GgufFile& Texts(std::string_view key, const std::vector<std::string>& texts) {
    Key(key, GgufType::kArray).Raw(GgufType::kString).Raw<uint64_t>(texts.size());
    for (const std::string& text : texts) entries_.WriteString(text);
    return *this;
  }

  // An entry of another file.
  void Copy(const GgufEntry& entry) {
    const GgufValue& value = entry.value;
    Key(entry.key, value.type);
    if (const auto* text = std::get_if<std::string_view>(&value.value)) {
      entries_.WriteString(*text);
    } else if (const auto* array = std::get_if<GgufArray>(&value.value)) {
      Raw(array->type).Raw(array->size);
      entries_.WriteBytes(array->payload);
    } else if (const auto* real = std::get_if<double>(&value.value)) {
      value.type == GgufType::kF64 ? Raw(*real) : Raw(static_cast<float>(*real));
    } else {  // little-endian: the low bytes are the narrower number
      static constexpr std::pair<GgufType, size_t> kBytes[] = {
          {GgufType::kU8, 1},  {GgufType::kI8, 1},  {GgufType::kBool, 1},
          {GgufType::kU16, 2}, {GgufType::kI16, 2}, {GgufType::kU32, 4},
          {GgufType::kI32, 4}, {GgufType::kU64, 8}, {GgufType::kI64, 8}};
      std::visit(
          [&](const auto& number) {
            for (const auto& [type, bytes] : kBytes)
              if (type == value.type)
                entries_.WriteBytes({reinterpret_cast<const char*>(&number), bytes});
          },
          value.value);
    }
  }

  // A tensor of `shape` (row-major, outermost first) with its bytes in the storage format.
  void Tensor(std::string_view name, DType dtype, const Shape& shape, std::string_view bytes) {
    ++tensors_;
    infos_.WriteString(name);
    infos_.Write(static_cast<uint32_t>(shape.rank()));
    for (int i = static_cast<int>(shape.rank()) - 1; i >= 0; --i)
      infos_.Write(static_cast<uint64_t>(shape[i]));
    infos_.Write(StorageTypeId(dtype));
    infos_.Write(static_cast<uint64_t>(data_.size()));
    data_.WriteBytes(bytes);
    data_.Align(32);
  }

  void Write(const std::string& path) const {
    ByteWriter out;
    out.WriteBytes("GGUF");
    out.Write<uint32_t>(3);
    out.Write(tensors_);
    out.Write(entry_count_);
    out.WriteBytes(entries_.bytes());
    out.WriteBytes(infos_.bytes());
    out.Align(32);
    out.WriteBytes(data_.bytes());
    std::ofstream(path, std::ios::binary) << out.bytes();
  }

 private:
  // ggml's numbers of the storage types.
  static uint32_t StorageTypeId(DType dtype) {
    static constexpr std::pair<DType, uint32_t> kIds[] = {
        {DType::kF32, 0},   {DType::kF16, 1},   {DType::kQ4_0, 2},
        {DType::kQ4_1, 3},  {DType::kQ5_0, 6},  {DType::kQ8_0, 8},
        {DType::kQ4_K, 12}, {DType::kQ6_K, 14}, {DType::kBF16, 30}};
    for (const auto& [type, id] : kIds)
      if (type == dtype) return id;
    return ~0u;
  }
  GgufFile& Key(std::string_view key, GgufType type) {
    ++entry_count_;
    entries_.WriteString(key);
    return Raw(type);
  }
  template <class T>
  GgufFile& Raw(T value) {
    entries_.Write(value);
    return *this;
  }

  ByteWriter entries_, infos_, data_;
  uint64_t entry_count_ = 0, tensors_ = 0;
};

// A vocabulary of `size` tokens that no text is meant for.
inline void AddVocabulary(GgufFile& file, int64_t size) {
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < size; ++i) tokens.push_back(fmt::format("t{}", i));
  file.Text("tokenizer.ggml.model", "gpt2").Texts("tokenizer.ggml.tokens", tokens);
}

}  // namespace tboost::testing
