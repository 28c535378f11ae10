#include "src/formats/npy/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <optional>

#include "src/base/bytes.h"
#include "src/base/checked.h"
#include "src/formats/quoted.h"

namespace tboost {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;

struct Descriptor {
  std::string_view text;
  DType dtype;
};
constexpr Descriptor kDescriptors[] = {
    {"<f4", DType::kF32}, {"<i4", DType::kI32}, {"<i8", DType::kI64}};

// Reads the header's Python dictionary, of which only this grammar occurs:
//   { 'key' : 'text' | True | False | ( int , ... ) , ... }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<NpyArray> Parse() {
    if (!Skip('{')) return Fail("a dictionary");
    while (!Skip('}')) {
      TBOOST_ASSIGN_OR_RETURN(const std::string_view key, Text());
      if (!Skip(':')) return Fail("':'");
      TBOOST_RETURN_IF_ERROR(Value(key));
      if (!Skip(',') && Peek() != '}') return Fail("',' or '}'");
    }
    if (Peek() != '\0') return Fail("nothing after the dictionary");
    if (!has_dtype_ || !has_order_ || !has_shape_)
      return CorruptError("{}: the header lacks descr, fortran_order or shape", name_);
    return array_;
  }

 private:
  Status Value(std::string_view key) {
    if (key == "descr" && !std::exchange(has_dtype_, true)) return DTypeValue();
    if (key == "fortran_order" && !std::exchange(has_order_, true)) return OrderValue();
    if (key == "shape" && !std::exchange(has_shape_, true)) return ShapeValue();
    return CorruptError("{}: unexpected header key {}", name_, Quoted(key));
  }

  Status DTypeValue() {
    TBOOST_ASSIGN_OR_RETURN(const std::string_view text, Text());
    const auto found = std::ranges::find(kDescriptors, text, &Descriptor::text);
    if (found == std::ranges::end(kDescriptors))
      return UnsupportedError("{}: dtype {} is not supported (<f4 <i4 <i8 are)", name_,
                              Quoted(text));
    array_.dtype = found->dtype;
    return OkStatus();
  }

  Status OrderValue() {
    if (SkipWord("False")) return OkStatus();
    if (!SkipWord("True")) return Fail("True or False");
    return UnsupportedError("{}: Fortran order is not supported; save it in C order", name_);
  }

  Status ShapeValue() {
    if (!Skip('(')) return Fail("a tuple");
    while (!Skip(')')) {
      Peek();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) return Fail("a dimension");
      text_.remove_prefix(end - text_.data());
      if (array_.shape.rank() == Shape::kMaxRank)
        return UnsupportedError("{}: more than {} dimensions", name_, Shape::kMaxRank);
      array_.shape.push_back(dim);
      if (!Skip(',') && Peek() != ')') return Fail("',' or ')'");
    }
    return OkStatus();
  }

  Result<std::string_view> Text() {
    const char quote = Peek();
    const size_t end = text_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == text_.npos) return Fail("a quoted word");
    const std::string_view word = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return word;
  }

  // The next character that is no space; a zero byte at the end.
  char Peek() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size()));
    return text_.empty() ? '\0' : text_.front();
  }

  bool Skip(char c) {
    if (Peek() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool SkipWord(std::string_view word) {
    Peek();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  Status Fail(std::string_view expected) const {
    return CorruptError("{}: header: expected {} at {}", name_, expected, Quoted(text_));
  }

  std::string_view text_;  // what is left
  std::string_view name_;
  NpyArray array_;
  bool has_dtype_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

Result<NpyArray> ParseNpy(std::string_view bytes, std::string_view name) try {
  ByteReader reader(bytes, name);
  TBOOST_ASSIGN_OR_RETURN(const std::string_view magic,
                          reader.ReadBytes(kMagic.size(), "the magic number"));
  if (magic != kMagic) return CorruptError("{}: not a .npy file", name);
  TBOOST_ASSIGN_OR_RETURN(const auto version, reader.Read<uint16_t>("the version"));
  if (version != 1)
    return UnsupportedError("{}: .npy format {}.{}; only 1.0 is read", name, version & 0xff,
                            version >> 8);
  TBOOST_ASSIGN_OR_RETURN(const auto size, reader.Read<uint16_t>("the header's length"));
  TBOOST_ASSIGN_OR_RETURN(const std::string_view header, reader.ReadBytes(size, "the header"));
  TBOOST_ASSIGN_OR_RETURN(NpyArray array, HeaderParser(header, name).Parse());
  const auto elements = CheckedElements(array.shape);
  const auto wanted = elements ? StorageBytes(array.dtype, *elements) : std::nullopt;
  if (!wanted || *wanted != reader.remaining())
    return CorruptError("{}: {} {} needs {} bytes, the file has {}", name, DTypeName(array.dtype),
                        array.shape.ToString(), wanted ? fmt::to_string(*wanted) : "too many",
                        reader.remaining());
  TBOOST_ASSIGN_OR_RETURN(array.data, reader.ReadBytes(*wanted, "the elements"));
  return array;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory for the array", name);
}

Result<NpyArray> ReadNpy(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParseNpy(file.bytes(), path);
}

Result<NpyWriter> NpyWriter::Create(const std::string& path, DType dtype, const Shape& row_shape) {
  if (std::ranges::find(kDescriptors, dtype, &Descriptor::dtype) == std::ranges::end(kDescriptors))
    return InvalidArgumentError("{}: .npy files hold f32, i32 or i64, not {}", path,
                                DTypeName(dtype));
  const auto elements = CheckedElements(row_shape);
  const auto row_bytes = elements ? StorageBytes(dtype, *elements) : std::nullopt;
  if (!row_bytes || *row_bytes == 0 || row_shape.rank() == Shape::kMaxRank)
    return InvalidArgumentError("{}: no rows of shape {}", path, row_shape.ToString());
  TBOOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  NpyWriter writer(std::move(file), dtype, row_shape, *row_bytes);
  TBOOST_RETURN_IF_ERROR(writer.file_.Write(writer.Header()));
  return writer;
}

Status NpyWriter::Append(std::string_view rows) {
  if (rows.size() % row_bytes_ != 0)
    return InvalidArgumentError("{} bytes are not whole rows of {}", rows.size(), row_bytes_);
  rows_ += rows.size() / row_bytes_;
  return file_.Write(rows);
}

Status NpyWriter::Finish() {
  TBOOST_RETURN_IF_ERROR(file_.WriteAt(0, Header()));
  return file_.Commit();
}

// Always of one length: the number of rows is padded to the digits of the greatest.
std::string NpyWriter::Header() const {
  const auto descriptor = std::ranges::find(kDescriptors, dtype_, &Descriptor::dtype);
  std::string shape = fmt::format("{},", rows_);
  for (const int64_t dim : row_shape_) shape += fmt::format(" {},", dim);
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                       descriptor->text, shape);
  const size_t growth = std::numeric_limits<int64_t>::digits10 + 1 - fmt::to_string(rows_).size();
  const size_t prefix = kMagic.size() + sizeof(uint16_t) * 2;
  const size_t total =
      RoundUp(prefix + dictionary.size() + growth + 1, kHeaderAlignment);  // ends in a newline
  dictionary.resize(total - prefix - 1, ' ');
  ByteWriter out;
  out.WriteBytes(kMagic);
  out.Write<uint16_t>(1);
  out.Write<uint16_t>(static_cast<uint16_t>(dictionary.size() + 1));
  out.WriteBytes(dictionary + "\n");
  return out.Take();
}

}  // namespace tboost
