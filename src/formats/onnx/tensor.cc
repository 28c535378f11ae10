#include "src/formats/onnx/tensor.h"

#include <charconv>
#include <cstring>
#include <new>

#include "src/base/checked.h"
#include "src/formats/quoted.h"
#include "src/tensor/shape.h"

namespace tboost {
namespace {

WireType NumberType(OnnxDataField field) {
  if (field == OnnxDataField::kFloat) return WireType::kFixed32;
  return field == OnnxDataField::kDouble ? WireType::kFixed64 : WireType::kVarint;
}

std::string TypeAndShape(const OnnxTensor& tensor) {
  return fmt::format("{} [{}]", OnnxDataTypeName(tensor.type), fmt::join(tensor.dims, ", "));
}

// Sets the sizes that type and dimensions give.
Status Measure(const OnnxDataTypeInfo& info, OnnxTensor& tensor) {
  if (tensor.dims.size() > Shape::kMaxRank)
    return UnsupportedError("{} dimensions, at most {} are supported", tensor.dims.size(),
                            Shape::kMaxRank);
  for (const int64_t dim : tensor.dims)
    if (dim < 0) return CorruptError("{}: a negative dimension", TypeAndShape(tensor));
  const auto elements = CheckedElements(tensor.dims);
  const auto bits = elements ? CheckedMul(*elements, info.bits) : std::nullopt;
  if (!bits) return CorruptError("the size of {} overflows", TypeAndShape(tensor));
  tensor.elements = *elements;
  tensor.bytes = DivUp(*bits, 8);
  return OkStatus();
}

Result<uint64_t> ParseSize(const StringPair& entry) {
  uint64_t value = 0;
  const char* end = entry.second.data() + entry.second.size();
  const auto [stop, error] = std::from_chars(entry.second.data(), end, value);
  if (error != std::errc() || stop != end)
    return CorruptError("external data: the {} {} is no 64-bit number", entry.first,
                        Quoted(entry.second));
  return value;
}

struct ExternalEntries {
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

// Refuses unknown keys: data read without regard to them could be other data.
Result<ExternalEntries> ReadEntries(const std::vector<StringPair>& external) {
  ExternalEntries out;
  for (const StringPair& entry : external) {
    const std::string_view key = entry.first;
    if (key == "location") {
      out.location = entry.second;
    } else if (key == "offset") {
      TBOOST_ASSIGN_OR_RETURN(out.offset, ParseSize(entry));
    } else if (key == "length") {
      TBOOST_ASSIGN_OR_RETURN(out.length, ParseSize(entry));
    } else if (key != "checksum" && key != "basepath" && !key.starts_with("prepacked")) {
      return CorruptError("external data: unknown key {}", Quoted(key));
    }
  }
  if (out.location.empty()) return CorruptError("external data without a location");
  return out;
}

Status PlaceExternal(const TensorFields& fields, ExternalFiles& files, OnnxTensor& tensor) {
  if (fields.raw_data || fields.entries > 0)
    return CorruptError("data both here and in external data");
  TBOOST_ASSIGN_OR_RETURN(const ExternalEntries entries, ReadEntries(fields.external));
  if (entries.length && *entries.length != tensor.bytes)
    return CorruptError("external data: length {}, {} takes {} bytes", *entries.length,
                        TypeAndShape(tensor), tensor.bytes);
  TBOOST_ASSIGN_OR_RETURN(const int index, files.Find(entries.location));
  const OnnxFile& file = files.file(index);
  if (!InRange(entries.offset, tensor.bytes, file.bytes.size()))
    return CorruptError("external data: {} takes {} bytes at {} of {}, which has {}",
                        TypeAndShape(tensor), tensor.bytes, entries.offset, file.name,
                        file.bytes.size());
  tensor.range = {index, entries.offset, tensor.bytes};
  return OkStatus();
}

// How many numbers or strings of the typed field hold all elements. No overflow: Measure has
// counted the bits.
uint64_t ExpectedEntries(const OnnxDataTypeInfo& info, uint64_t elements) {
  return info.bits == 0 ? elements : DivUp(elements * info.bits, info.entry_bits);
}

OnnxRange RangeIn(std::string_view model, std::string_view bytes) {
  return {0, static_cast<uint64_t>(bytes.data() - model.data()), bytes.size()};
}

Status PlaceTyped(const TensorFields& fields, const OnnxDataTypeInfo& info, std::string_view model,
                  OnnxTensor& tensor) {
  if (fields.entries > 0 && fields.typed != info.field)
    return CorruptError("{} in {}, expected {}", TypeAndShape(tensor),
                        OnnxDataFieldName(fields.typed), OnnxDataFieldName(info.field));
  const uint64_t expected = ExpectedEntries(info, tensor.elements);
  if (fields.entries != expected)
    return CorruptError("{} needs {} entries of {}, got {}", TypeAndShape(tensor), expected,
                        OnnxDataFieldName(info.field), fields.entries);
  if (info.bits == 0) return OkStatus();
  const bool fixed = NumberType(info.field) != WireType::kVarint;
  if (tensor.bytes == 0) {
    tensor.range = OnnxRange();
  } else if (fixed && fields.runs == 1 && fields.run.size() == tensor.bytes) {
    tensor.range = RangeIn(model, fields.run);
  }
  return OkStatus();
}

Status PlaceRaw(std::string_view raw_data, std::string_view model, OnnxTensor& tensor) {
  if (tensor.type == OnnxDataType::kString) return CorruptError("strings in raw_data");
  if (raw_data.size() != tensor.bytes)
    return CorruptError("raw_data has {} bytes, {} takes {}", raw_data.size(), TypeAndShape(tensor),
                        tensor.bytes);
  tensor.range = RangeIn(model, raw_data);
  return OkStatus();
}

// Appends the low `bits` of `value` as whole bytes.
Status AppendEntry(uint64_t value, int bits, std::string& out) {
  const auto number = static_cast<int64_t>(value);
  if (bits < 64 && (number < -(int64_t{1} << (bits - 1)) || number >= int64_t{1} << bits))
    return CorruptError("element {} is {}, more than {} bits", out.size() * 8 / bits, number, bits);
  out.append(reinterpret_cast<const char*>(&value), bits / 8);
  return OkStatus();
}

// Visits the fields of a tensor's message that hold its elements.
Status ForEachData(const OnnxTensor& tensor, OnnxDataField number, const char* file,
                   FunctionRef<Status(const WireField&)> visit) {
  WireReader reader(tensor.message, file);
  while (!reader.done()) {
    TBOOST_ASSIGN_OR_RETURN(const WireField field, reader.Next());
    if (field.number == static_cast<uint32_t>(number)) TBOOST_RETURN_IF_ERROR(visit(field));
  }
  return OkStatus();
}

}  // namespace

Status AddTypedData(const WireField& field, TensorFields& fields) {
  const auto kind = static_cast<OnnxDataField>(field.number);
  uint64_t entries = 1;
  if (kind == OnnxDataField::kString) {
    TBOOST_RETURN_IF_ERROR(ExpectType(field, WireType::kBytes));
  } else {
    TBOOST_ASSIGN_OR_RETURN(entries, CountNumbers(field, NumberType(kind)));
  }
  if (entries == 0) return OkStatus();
  if (fields.typed != OnnxDataField::kNone && fields.typed != kind)
    return CorruptError("data in both {} and {}", OnnxDataFieldName(fields.typed),
                        OnnxDataFieldName(kind));
  fields.typed = kind;
  fields.entries += entries;
  ++fields.runs;
  fields.run = field.bytes;
  return OkStatus();
}

Result<OnnxTensor> PlaceTensor(const TensorFields& fields, std::string_view model,
                               ExternalFiles& files) {
  const OnnxDataTypeInfo* info = FindOnnxDataType(fields.type);
  if (info == nullptr)
    return UnsupportedError("unknown {}; 1 to {} are known", OnnxDataTypeName(fields.type),
                            AllOnnxDataTypes().size());
  if (fields.segmented) return UnsupportedError("one segment of a tensor stored in several");
  OnnxTensor tensor;
  tensor.name = fields.name;
  tensor.type = fields.type;
  tensor.dims = fields.dims;
  tensor.message = fields.message;
  TBOOST_RETURN_IF_ERROR(Measure(*info, tensor));
  const bool is_string = fields.type == OnnxDataType::kString;
  if (fields.location == 1 && !is_string) {
    TBOOST_RETURN_IF_ERROR(PlaceExternal(fields, files, tensor));
  } else if (fields.location != 0) {
    return UnsupportedError("{} data at the location {}", info->name, fields.location);
  } else if (fields.raw_data && fields.entries > 0 && !fields.raw_data->empty()) {
    return CorruptError("data in both raw_data and {}", OnnxDataFieldName(fields.typed));
  } else if (fields.raw_data && fields.entries == 0) {
    TBOOST_RETURN_IF_ERROR(PlaceRaw(*fields.raw_data, model, tensor));
  } else {
    TBOOST_RETURN_IF_ERROR(PlaceTyped(fields, *info, model, tensor));
  }
  return tensor;
}

Result<std::string> OnnxModel::Read(const OnnxTensor& tensor) const try {
  const std::string context = fmt::format("{}: {}", files[0].name, Label(tensor));
  if (tensor.range) return std::string(Bytes(*tensor.range));
  const OnnxDataTypeInfo* info = FindOnnxDataType(tensor.type);
  if (info == nullptr || info->entry_bits % 8 != 0 || info->bits == 0)
    return UnsupportedError("{}: {} in {} cannot be read as numbers", context,
                            OnnxDataTypeName(tensor.type),
                            OnnxDataFieldName(info ? info->field : OnnxDataField::kNone));
  std::string out;
  out.reserve(tensor.bytes);
  const auto append = [&](uint64_t value) { return AppendEntry(value, info->entry_bits, out); };
  const Status status =
      ForEachData(tensor, info->field, files[0].bytes.data(), [&](const WireField& field) {
        return ForEachNumber(field, NumberType(info->field), append);
      });
  if (!status.ok()) return status.WithContext(context);
  return out;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: {}: not enough memory for {} bytes", files[0].name,
                                Label(tensor), tensor.bytes);
}

Result<std::vector<std::string_view>> OnnxModel::ReadStrings(const OnnxTensor& tensor) const try {
  if (tensor.type != OnnxDataType::kString)
    return InvalidArgumentError("{}: {}: {} elements are no strings", files[0].name, Label(tensor),
                                OnnxDataTypeName(tensor.type));
  std::vector<std::string_view> strings;
  const Status status = ForEachData(tensor, OnnxDataField::kString, files[0].bytes.data(),
                                    [&](const WireField& field) {
                                      strings.push_back(field.bytes);
                                      return OkStatus();
                                    });
  if (!status.ok()) return status;
  return strings;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: {}: not enough memory for {} strings", files[0].name,
                                Label(tensor), tensor.elements);
}

}  // namespace tboost
