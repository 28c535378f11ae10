#include "src/formats/npy/npy.h"

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;
using testing::TemporaryFolder;

std::string File(std::string_view header, size_t data_bytes, uint16_t version = 1) {
  ByteWriter out;
  out.WriteBytes("\x93NUMPY");
  out.Write(version);
  out.Write(static_cast<uint16_t>(header.size()));
  out.WriteBytes(header);
  out.WriteBytes(std::string(data_bytes, 'd'));
  return out.Take();
}

TEST(Npy, RoundTripsRows) {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::kF32, DType::kI32, DType::kI64}) {
    const size_t row_bytes = 6 * Info(dtype).block_bytes;
    std::string data(11 * row_bytes, '\0');
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31);
    auto writer = NpyWriter::Create(folder / "a.npy", dtype, {2, 3});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(writer->Append(std::string_view(data).substr(0, row_bytes)).ok());
    ASSERT_TRUE(writer->Append(std::string_view(data).substr(row_bytes)).ok());
    EXPECT_THAT(writer->Append("x"), FailsWith(StatusCode::kInvalidArgument, "whole rows"));
    ASSERT_TRUE(writer->Finish().ok());
    const auto array = ReadNpy(folder / "a.npy");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->dtype, dtype);
    EXPECT_EQ(array->shape, Shape({11, 2, 3}));
    EXPECT_EQ(array->data, data);
  }
  EXPECT_THAT(ReadNpy(folder / "none"), FailsWith(StatusCode::kNotFound, "none"));
}

TEST(Npy, DataBeginAtAMultipleOf64) {
  const TemporaryFolder folder;
  for (int rank = 0; rank < Shape::kMaxRank; ++rank) {
    Shape row;
    for (int i = 0; i < rank; ++i) row.push_back(1);
    auto writer = NpyWriter::Create(folder / "a.npy", DType::kF32, row);
    ASSERT_TRUE(writer.ok() && writer->Finish().ok());
    const auto file = MappedFile::Open(folder / "a.npy");
    EXPECT_EQ(file->bytes().size() % 64, 0u);
    EXPECT_EQ(file->bytes().back(), '\n');
    EXPECT_EQ(ReadNpy(folder / "a.npy")->shape.rank(), rank + 1);
  }
}

TEST(Npy, WriterRefusesWhatTheFormatLacks) {
  const TemporaryFolder folder;
  const auto create = [&](DType dtype, const Shape& row) {
    return NpyWriter::Create(folder / "a.npy", dtype, row);
  };
  EXPECT_THAT(create(DType::kBF16, {1}), FailsWith(StatusCode::kInvalidArgument, "bf16"));
  EXPECT_THAT(create(DType::kF32, {0}), FailsWith(StatusCode::kInvalidArgument, "no rows"));
  EXPECT_THAT(create(DType::kF32, {INT64_MAX, 2}),
              FailsWith(StatusCode::kInvalidArgument, "no rows"));
  EXPECT_THAT(create(DType::kF32, {1, 1, 1, 1, 1, 1, 1, 1}),
              FailsWith(StatusCode::kInvalidArgument, "no rows"));
  EXPECT_TRUE(folder.Names().empty());
}

TEST(Npy, ReadsTheSpellingsOfTheHeader) {
  const std::pair<std::string_view, Shape> cases[] = {
      {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }          \n", {2}},
      {"{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"<i8\"}", {1, 2}},
      {"{'descr': '<i8', 'fortran_order': False, 'shape': (2), }", {2}},
  };
  for (const auto& [header, shape] : cases) {
    const auto array = ParseNpy(File(header, 16), "a");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->data, std::string(16, 'd'));
  }
  EXPECT_EQ(
      ParseNpy(File("{'descr':'<f4','fortran_order':False,'shape':()}", 4), "a")->shape.rank(), 0);
}

TEST(Npy, RefusesHostileFiles) {
  struct Hostile {
    std::string_view header;
    size_t data_bytes;
    StatusCode code;
    std::string_view message;
  };
  constexpr StatusCode kCorrupt = StatusCode::kCorrupt, kUnsupported = StatusCode::kUnsupported;
  const Hostile cases[] = {
      {"", 0, kCorrupt, "a dictionary"},
      {"{", 0, kCorrupt, "a quoted word"},
      {"{'descr", 0, kCorrupt, "a quoted word"},
      {"{'descr' '<f4'}", 0, kCorrupt, "':'"},
      {"{'descr':'<f4' 'shape':()}", 0, kCorrupt, "',' or '}'"},
      {"{'descr':'<f4'}", 0, kCorrupt, "lacks"},
      {"{'descr':'<f4','fortran_order':False,'shape':()} x", 4, kCorrupt, "nothing after"},
      {"{'descr':'<f4','descr':'<f4'}", 0, kCorrupt, "unexpected header key \"descr\""},
      {"{'other':'<f4'}", 0, kCorrupt, "unexpected header key \"other\""},
      {"{'descr':'>f4'}", 0, kUnsupported, ">f4"},
      {"{'descr':'|O'}", 0, kUnsupported, "|O"},
      {"{'fortran_order':True}", 0, kUnsupported, "Fortran"},
      {"{'fortran_order':1}", 0, kCorrupt, "True or False"},
      {"{'shape':2}", 0, kCorrupt, "a tuple"},
      {"{'shape':(-2,)}", 0, kCorrupt, "a dimension"},
      {"{'shape':(99999999999999999999,)}", 0, kCorrupt, "a dimension"},
      {"{'shape':(2 2)}", 0, kCorrupt, "',' or ')'"},
      {"{'shape':(2", 0, kCorrupt, "',' or ')'"},
      {"{'shape':(1,1,1,1,1,1,1,1,1)}", 0, kUnsupported, "dimensions"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,)}", 7, kCorrupt, "needs 8 bytes"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,)}", 9, kCorrupt, "needs 8 bytes"},
      {"{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}", 0, kCorrupt,
       "too many"},
      {"{'descr':'<f4','fortran_order':False,'shape':(4611686018427387904,)}", 0, kCorrupt,
       "too many"},
  };
  for (const Hostile& c : cases)
    EXPECT_THAT(ParseNpy(File(c.header, c.data_bytes), "a"), FailsWith(c.code, c.message))
        << c.header;
  EXPECT_THAT(ParseNpy(File("{}", 0, 2), "a"), FailsWith(kUnsupported, "format 2.0"));
  EXPECT_THAT(ParseNpy("PNG-------", "a"), FailsWith(kCorrupt, "not a .npy"));
  EXPECT_THAT(ParseNpy("", "a"), FailsWith(kCorrupt, "truncated"));
}

}  // namespace
}  // namespace tboost
