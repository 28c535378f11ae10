#include "src/formats/safetensors/safetensors.h"

#include <algorithm>
#include <array>
#include <new>
#include <tuple>

#include "src/base/bytes.h"
#include "src/base/checked.h"
#include "src/base/json.h"
#include "src/base/utf8.h"
#include "src/formats/quoted.h"

namespace tboost {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr uint64_t kDataAlignment = 64;  // of the first tensor in files written here
constexpr std::string_view kMetadataKey = "__metadata__";

struct DTypeEntry {
  std::string_view name;
  DType dtype;
};
constexpr DTypeEntry kDTypes[] = {
    {"F32", DType::kF32}, {"F16", DType::kF16}, {"BF16", DType::kBF16}, {"I64", DType::kI64},
    {"I32", DType::kI32}, {"I8", DType::kI8},   {"U8", DType::kU8},     {"BOOL", DType::kBool},
};

Result<DType> ParseDType(const Json& value, const std::string& context) {
  if (!value.is_string()) return CorruptError("{}: dtype must be a string", context);
  const auto& name = value.get_ref<const std::string&>();
  const auto found = std::ranges::find(kDTypes, name, &DTypeEntry::name);
  if (found != std::ranges::end(kDTypes)) return found->dtype;
  return UnsupportedError("{}: dtype {} is not supported (F32 F16 BF16 I64 I32 I8 U8 BOOL are)",
                          context, Quoted(name));
}

Result<Shape> ParseShape(const Json& value, const std::string& context) {
  if (!value.is_array()) return CorruptError("{}: shape must be an array", context);
  if (value.size() > Shape::kMaxRank)
    return UnsupportedError("{}: {} dimensions, at most {} are supported", context, value.size(),
                            Shape::kMaxRank);
  Shape shape;
  for (const Json& dim : value) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX)
      return CorruptError("{}: a dimension of the shape is no non-negative 64-bit integer",
                          context);
    shape.push_back(dim.get<int64_t>());
  }
  return shape;
}

// Begin and size, relative to the end of the header.
Result<std::pair<uint64_t, uint64_t>> ParseRange(const Json& value, const std::string& context) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned())
    return CorruptError("{}: data_offsets must be two non-negative integers", context);
  const auto begin = value[0].get<uint64_t>(), end = value[1].get<uint64_t>();
  if (end < begin)
    return CorruptError("{}: data_offsets [{}, {}] run backwards", context, begin, end);
  return std::pair(begin, end - begin);
}

Result<RawTensor> ParseTensor(const std::string& tensor_name, const Json& entry,
                              std::string_view file_name) {
  const std::string context = fmt::format("{}: tensor {}", file_name, Quoted(tensor_name));
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    return CorruptError("{}: expected an object of dtype, shape and data_offsets", context);
  RawTensor tensor;
  tensor.name = tensor_name;
  TBOOST_ASSIGN_OR_RETURN(tensor.dtype, ParseDType(entry["dtype"], context));
  TBOOST_ASSIGN_OR_RETURN(tensor.shape, ParseShape(entry["shape"], context));
  TBOOST_ASSIGN_OR_RETURN(std::tie(tensor.offset, tensor.bytes),
                          ParseRange(entry["data_offsets"], context));
  const auto elements = CheckedElements(tensor.shape);
  const auto bytes = elements ? StorageBytes(tensor.dtype, *elements) : std::nullopt;
  if (!bytes)
    return CorruptError("{}: the size of shape {} overflows", context, tensor.shape.ToString());
  if (*bytes != tensor.bytes)
    return CorruptError("{}: {} {} takes {} bytes, data_offsets give {}", context,
                        DTypeName(tensor.dtype), tensor.shape.ToString(), *bytes, tensor.bytes);
  return tensor;
}

// The header's text; moves `reader` to the tensors' bytes.
Result<std::string_view> ReadHeader(std::string_view name, ByteReader& reader) {
  TBOOST_ASSIGN_OR_RETURN(const auto size, reader.Read<uint64_t>("the header's length"));
  if (size > std::min<uint64_t>(kMaxHeaderBytes, reader.remaining()))
    return CorruptError("{}: the header's length is {}, but {} bytes follow and the limit is {}",
                        name, size, reader.remaining(), kMaxHeaderBytes);
  return reader.ReadBytes(size, "the header");
}

// Moves offsets from header-relative to file-relative.
Status PlaceTensors(std::string_view name, uint64_t data_start, uint64_t data_size,
                    std::vector<RawTensor>& tensors) {
  std::ranges::sort(tensors, {}, [](const RawTensor& t) { return std::pair(t.offset, t.bytes); });
  uint64_t end = 0;
  for (RawTensor& tensor : tensors) {
    if (tensor.offset != end)
      return CorruptError(
          "{}: tensor {} begins at {}, {} {}", name, Quoted(tensor.name), tensor.offset,
          tensor.offset < end ? "inside the one before, ends at" : "after a gap from", end);
    if (!InRange(tensor.offset, tensor.bytes, data_size))
      return CorruptError("{}: truncated: tensor {} ends at {} of {} data bytes", name,
                          Quoted(tensor.name), tensor.offset + tensor.bytes, data_size);
    end = tensor.offset + tensor.bytes;
    tensor.offset += data_start;
  }
  if (end != data_size)
    return CorruptError("{}: {} bytes follow the last tensor", name, data_size - end);
  return OkStatus();
}

}  // namespace

Result<std::vector<RawTensor>> ParseSafetensors(std::string_view bytes, std::string_view name,
                                                int file) try {
  ByteReader reader(bytes, name);
  TBOOST_ASSIGN_OR_RETURN(const std::string_view text, ReadHeader(name, reader));
  TBOOST_ASSIGN_OR_RETURN(const Json header,
                          ParseJson(text, name, {.max_bytes = kMaxHeaderBytes, .max_depth = 4}));
  if (!header.is_object()) return CorruptError("{}: the header is no JSON object", name);
  std::vector<RawTensor> tensors;
  for (const auto& [tensor_name, entry] : header.items()) {
    if (tensor_name == kMetadataKey) continue;
    TBOOST_ASSIGN_OR_RETURN(RawTensor tensor, ParseTensor(tensor_name, entry, name));
    tensor.file = file;
    tensors.push_back(std::move(tensor));
  }
  TBOOST_RETURN_IF_ERROR(PlaceTensors(name, reader.offset(), reader.remaining(), tensors));
  return tensors;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to read the header", name);
}

Result<std::vector<std::pair<std::string, std::string>>> ParseSafetensorsIndex(
    std::string_view text, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const Json index,
                          ParseJson(text, name, {.max_bytes = kMaxHeaderBytes, .max_depth = 8}));
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object())
    return CorruptError("{}: expected an object with an object \"weight_map\"", name);
  std::vector<std::pair<std::string, std::string>> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string())
      return CorruptError("{}: the file of tensor {} must be a string", name, Quoted(tensor));
    shards.emplace_back(tensor, shard.get_ref<const std::string&>());
  }
  return shards;
}

Result<RawModel> ReadSafetensors(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  TBOOST_ASSIGN_OR_RETURN(std::vector<RawTensor> tensors, ParseSafetensors(file.bytes(), path));
  std::vector<MappedFile> files;
  files.push_back(std::move(file));
  return RawModel::Make(std::move(files), std::move(tensors));
}

Status WriteSafetensors(const std::string& path, std::span<const SafetensorsTensor> tensors) {
  Json header = Json::object();
  uint64_t end = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    const std::string context = fmt::format("{}: tensor {}", path, Quoted(tensor.name));
    if (tensor.name == kMetadataKey || !IsValidUtf8(tensor.name))
      return InvalidArgumentError("{}: not a possible name", context);
    const auto dtype = std::ranges::find(kDTypes, tensor.dtype, &DTypeEntry::dtype);
    if (dtype == std::ranges::end(kDTypes))
      return InvalidArgumentError("{}: safetensors has no {}", context, DTypeName(tensor.dtype));
    const auto elements = CheckedElements(tensor.shape);
    const auto bytes = elements ? StorageBytes(tensor.dtype, *elements) : std::nullopt;
    if (bytes != tensor.bytes.size())
      return InvalidArgumentError("{}: {} bytes do not fit shape {}", context, tensor.bytes.size(),
                                  tensor.shape.ToString());
    Json entry = {{"dtype", dtype->name},
                  {"shape", std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())},
                  {"data_offsets", {end, end + *bytes}}};
    if (!header.emplace(tensor.name, std::move(entry)).second)
      return InvalidArgumentError("{}: is there twice", context);
    end += *bytes;
  }
  std::string text = header.dump();
  text.resize(RoundUp(text.size() + 8, kDataAlignment) - 8, ' ');
  ByteWriter head;
  head.WriteString(text);
  TBOOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  TBOOST_RETURN_IF_ERROR(file.Write(head.bytes()));
  for (const SafetensorsTensor& tensor : tensors) TBOOST_RETURN_IF_ERROR(file.Write(tensor.bytes));
  return file.Commit();
}

}  // namespace tboost
