#include "src/formats/gguf/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>

#include "src/base/bytes.h"
#include "src/base/checked.h"
#include "src/formats/quoted.h"

namespace tboost {
namespace {

constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kMinEntryBytes = 8 + 4 + 1;       // empty key, type, a one-byte value
constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;  // empty name, no dimensions, type, offset

// Every storage type of the format, by its id in the file; those without a DType are refused by
// name.
struct StorageType {
  uint32_t id;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr StorageType kStorageTypes[] = {
    {0, "F32", DType::kF32},
    {1, "F16", DType::kF16},
    {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},
    {6, "Q5_0", DType::kQ5_0},
    {7, "Q5_1", {}},
    {8, "Q8_0", DType::kQ8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", {}},
    {11, "Q3_K", {}},
    {12, "Q4_K", DType::kQ4_K},
    {13, "Q5_K", {}},
    {14, "Q6_K", DType::kQ6_K},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},
    {24, "I8", DType::kI8},
    {25, "I16", {}},
    {26, "I32", DType::kI32},
    {27, "I64", DType::kI64},
    {28, "F64", {}},
    {29, "IQ1_M", {}},
    {30, "BF16", DType::kBF16},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {39, "MXFP4", {}},
    {40, "NVFP4", {}},
    {41, "Q1_0", {}},
};

struct Header {
  uint64_t tensors = 0;
  uint64_t entries = 0;
};

Result<Header> ReadHeader(std::string_view name, ByteReader& reader) {
  TBOOST_ASSIGN_OR_RETURN(const std::string_view magic, reader.ReadBytes(4, "the magic number"));
  if (magic != "GGUF")
    return CorruptError("{}: not a GGUF file (it begins with {})", name, Quoted(magic));
  TBOOST_ASSIGN_OR_RETURN(const auto version, reader.Read<uint32_t>("the version"));
  if (version != 0 && (version & 0xffff) == 0)
    return UnsupportedError("{}: a big-endian GGUF file; only little-endian ones are read", name);
  if (version != 2 && version != 3)
    return UnsupportedError("{}: GGUF version {}; versions 2 and 3 are read", name, version);
  Header header;
  TBOOST_ASSIGN_OR_RETURN(header.tensors, reader.Read<uint64_t>("the number of tensors"));
  TBOOST_ASSIGN_OR_RETURN(header.entries, reader.Read<uint64_t>("the number of metadata entries"));
  if (header.tensors > reader.remaining() / kMinTensorBytes ||
      header.entries > reader.remaining() / kMinEntryBytes)
    return CorruptError("{}: truncated: {} tensors and {} metadata entries in {} bytes", name,
                        header.tensors, header.entries, reader.remaining());
  return header;
}

Result<DType> ReadStorageType(ByteReader& reader, const std::string& context) {
  TBOOST_ASSIGN_OR_RETURN(const auto id, reader.Read<uint32_t>("a tensor's type"));
  const auto found = std::ranges::find(kStorageTypes, id, &StorageType::id);
  if (found == std::ranges::end(kStorageTypes))
    return UnsupportedError("{}: unknown storage type {}", context, id);
  if (!found->dtype)
    return UnsupportedError("{}: storage type {} is not supported", context, found->name);
  return *found->dtype;
}

// Outermost first: the file has them innermost first.
Result<Shape> ReadShape(ByteReader& reader, const std::string& context) {
  TBOOST_ASSIGN_OR_RETURN(const auto rank, reader.Read<uint32_t>("a tensor's rank"));
  if (rank > kMaxDims)
    return CorruptError("{}: {} dimensions, at most {} are possible", context, rank, kMaxDims);
  std::array<int64_t, kMaxDims> dims{};
  for (uint32_t i = 0; i < rank; ++i) {
    TBOOST_ASSIGN_OR_RETURN(const auto dim, reader.Read<uint64_t>("a tensor's dimension"));
    if (dim > INT64_MAX) return CorruptError("{}: dimension {} is {}", context, i, dim);
    dims[rank - 1 - i] = static_cast<int64_t>(dim);
  }
  return Shape(std::span<const int64_t>(dims.data(), rank));
}

// One entry of the tensor table; the offset is still relative to the data.
Result<RawTensor> ReadTensor(std::string_view file_name, ByteReader& reader) {
  RawTensor tensor;
  TBOOST_ASSIGN_OR_RETURN(tensor.name, reader.ReadString("a tensor's name"));
  const std::string context = fmt::format("{}: tensor {}", file_name, Quoted(tensor.name));
  TBOOST_ASSIGN_OR_RETURN(tensor.shape, ReadShape(reader, context));
  TBOOST_ASSIGN_OR_RETURN(tensor.dtype, ReadStorageType(reader, context));
  TBOOST_ASSIGN_OR_RETURN(tensor.offset, reader.Read<uint64_t>("a tensor's offset"));
  const int block = Info(tensor.dtype).block_elements;
  if (block > 1 && (tensor.shape.rank() == 0 || tensor.shape.back() % block != 0))
    return CorruptError("{}: rows of shape {} are not whole {} blocks of {}", context,
                        tensor.shape.ToString(), DTypeName(tensor.dtype), block);
  const auto elements = CheckedElements(tensor.shape);
  const auto bytes = elements ? StorageBytes(tensor.dtype, *elements) : std::nullopt;
  if (!bytes)
    return CorruptError("{}: the size of shape {} overflows", context, tensor.shape.ToString());
  tensor.bytes = *bytes;
  return tensor;
}

Result<uint64_t> Alignment(const GgufMetadata& metadata, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(
      const int64_t alignment,
      metadata.Get<int64_t>("general.alignment", static_cast<int64_t>(kDefaultAlignment)));
  const auto value = static_cast<uint64_t>(alignment);
  if (!std::has_single_bit(value) || value < 8 || value > kMaxAlignment)
    return CorruptError("{}: general.alignment is {}, expected a power of two from 8 to {}", name,
                        alignment, kMaxAlignment);
  return value;
}

// Checks that the tensors' bytes follow one another within the file, and makes the offsets relative
// to it.
Status PlaceTensors(std::string_view name, uint64_t data_start, uint64_t file_size,
                    uint64_t alignment, std::vector<RawTensor>& tensors) {
  uint64_t end = 0;
  for (RawTensor& tensor : tensors) {
    const uint64_t offset = tensor.offset;
    if (offset % alignment != 0 || offset < end)
      return CorruptError("{}: tensor {} at offset {}: expected a multiple of {}, from {} on", name,
                          Quoted(tensor.name), offset, alignment, end);
    if (data_start > file_size || !InRange(offset, tensor.bytes, file_size - data_start))
      return CorruptError(
          "{}: truncated: tensor {} takes {} bytes at {} of the data, which begins "
          "at {} of {}",
          name, Quoted(tensor.name), tensor.bytes, offset, data_start, file_size);
    end = offset + tensor.bytes;
    tensor.offset += data_start;
  }
  return OkStatus();
}

}  // namespace

Result<GgufContents> ParseGguf(std::string_view bytes, std::string_view name) try {
  ByteReader reader(bytes, name);
  TBOOST_ASSIGN_OR_RETURN(const Header header, ReadHeader(name, reader));
  GgufContents contents;
  TBOOST_ASSIGN_OR_RETURN(contents.metadata, GgufMetadata::Parse(header.entries, name, reader));
  for (uint64_t i = 0; i < header.tensors; ++i) {
    TBOOST_ASSIGN_OR_RETURN(RawTensor tensor, ReadTensor(name, reader));
    contents.tensors.push_back(std::move(tensor));
  }
  TBOOST_ASSIGN_OR_RETURN(const uint64_t alignment, Alignment(contents.metadata, name));
  TBOOST_RETURN_IF_ERROR(PlaceTensors(name, RoundUp(reader.offset(), alignment), bytes.size(),
                                      alignment, contents.tensors));
  return contents;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to read the tables", name);
}

Result<GgufModel> ReadGguf(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  TBOOST_ASSIGN_OR_RETURN(GgufContents contents, ParseGguf(file.bytes(), path));
  TBOOST_ASSIGN_OR_RETURN(const int64_t parts, contents.metadata.Get<int64_t>("split.count", 1));
  if (parts > 1)
    return UnsupportedError("{}: one of {} parts of a split model; join them into one file first",
                            path, parts);
  std::vector<MappedFile> files;
  files.push_back(std::move(file));
  GgufModel model;
  TBOOST_ASSIGN_OR_RETURN(model.weights,
                          RawModel::Make(std::move(files), std::move(contents.tensors)));
  model.metadata = std::move(contents.metadata);
  return model;
}

}  // namespace tboost
