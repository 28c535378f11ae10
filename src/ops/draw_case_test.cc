// Drawing the operands of a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "src/ops/interpreter.h"
#include "src/ops/ops_testing.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

using Kind = ValueType::Kind;

// Offsets of the f16 fields of a block: scales, which random bytes would make infinite.
std::vector<size_t> ScaleOffsets(DType dtype) {
  switch (dtype) {
    case DType::kQ4_1:
    case DType::kQ4_K:
      return {0, 2};
    case DType::kQ6_K:
      return {208};
    default:
      return {0};
  }
}

// Rows in a storage format, drawn.
std::string DrawRows(DType dtype, int64_t rows, int64_t k, std::mt19937& random) {
  const DTypeInfo& info = Info(dtype);
  std::normal_distribution<float> normal;
  const uint64_t row_bytes = *RowBytes(dtype, k);
  std::string out(rows * row_bytes, '\0');
  if (info.block_elements == 1) {
    std::vector<float> row(k);
    for (int64_t r = 0; r < rows; ++r) {
      for (float& x : row) x = normal(random);
      ConvertRow(row.data(), k, dtype, out.data() + r * row_bytes);
    }
    return out;
  }
  for (char& byte : out) byte = static_cast<char>(random());
  for (size_t block = 0; block < out.size(); block += info.block_bytes)
    for (size_t offset : ScaleOffsets(dtype)) {
      const float scale = 0.02f * normal(random);
      ConvertRow(&scale, 1, DType::kF16, out.data() + block + offset);
    }
  return out;
}

void DrawPanels(CaseData& data, size_t i, std::mt19937& random) {
  RefTensor& tensor = data.tensors[i];
  const DType dtype = data.test.inputs[i].dtype;
  const int64_t n = tensor.shape[0], k = tensor.shape[1];
  const std::string rows = DrawRows(dtype, n, k, random);
  std::vector<float> row(k);
  for (int64_t r = 0; r < n; ++r) {
    DequantizeRow(dtype, rows.data() + r * rows.size() / n, k, row.data());
    std::copy(row.begin(), row.end(), tensor.row(r));
  }
  data.stored[i] = AllocateBuffer(*PackedBytes(dtype, n, k));
  PackPanels(dtype, rows.data(), n, k, data.stored[i].data());
}

void StorePlain(CaseData& data, size_t i) {
  const RefTensor& tensor = data.tensors[i];
  data.stored[i] = AllocateBuffer(tensor.data.size() * sizeof(float));
  for (size_t j = 0; j < tensor.data.size(); ++j) {
    const float value = static_cast<float>(tensor.data[j]);
    const int32_t index = static_cast<int32_t>(tensor.data[j]);
    std::memcpy(data.stored[i].data() + j * sizeof(float),
                data.test.inputs[i].dtype == DType::kI32 ? static_cast<const void*>(&index)
                                                         : static_cast<const void*>(&value),
                sizeof(float));
  }
}

void DrawTensor(CaseData& data, size_t i, std::mt19937& random) {
  RefTensor& tensor = data.tensors[i];
  tensor.shape = KnownShape(data.test.inputs[i]);
  tensor.data.resize(tensor.shape.elements());
  if (data.op->inputs[i].form == ConstantForm::kPanels) return DrawPanels(data, i, random);
  std::normal_distribution<float> normal;
  for (size_t j = 0; j < tensor.data.size(); ++j) {
    const bool outlier = data.test.outliers && j % tensor.columns() % 7 == 3;
    tensor.data[j] = data.test.inputs[i].dtype == DType::kI32
                         ? static_cast<double>(random() % data.test.index_limit)
                         : normal(random) * (outlier ? 1000.0f : 1.0f);
  }
  StorePlain(data, i);
}

bool WritesCache(const CaseData& data) {
  return std::ranges::any_of(data.outputs,
                             [](const ValueType& t) { return t.kind == Kind::kKvCache; });
}

// Tokens of the past, and of the step too where the operator only reads.
void DrawCache(CaseData& data, const ValueType& type, std::mt19937& random) {
  const Shape shape = KnownShape(type);
  std::normal_distribution<float> normal;
  data.cache.kv_heads = static_cast<int>(shape[0]);
  data.cache.head_dim = static_cast<int>(shape[1]);
  for (size_t s = 0; s < data.test.lengths.size(); ++s) {
    const int tokens = data.test.past[s] + (WritesCache(data) ? 0 : data.test.lengths[s]);
    std::vector<double> keys(tokens * shape.elements()), values(keys.size());
    for (double& x : keys) x = normal(random);
    for (double& x : values) x = normal(random);
    data.cache.keys.push_back(std::move(keys));
    data.cache.values.push_back(std::move(values));
  }
}

void InferOutputs(CaseData& data) {
  data.present = std::make_unique<bool[]>(data.test.present.size());
  std::ranges::copy(data.test.present, data.present.get());
  auto types = data.op->infer(data.test.inputs, {data.present.get(), data.test.present.size()},
                              data.test.attributes);
  ASSERT_TRUE(types.ok()) << types.status().message();
  data.outputs = std::move(types).value();
}

}  // namespace

Shape KnownShape(const ValueType& type) {
  const Result<Shape> shape = ConcreteShape(type);
  EXPECT_TRUE(shape.ok()) << shape.status().message();
  return shape.ok() ? *shape : Shape();
}

Buffer AllocateBuffer(size_t bytes) {
  Result<Buffer> buffer = Buffer::Allocate(std::max<size_t>(bytes, 64));
  EXPECT_TRUE(buffer.ok());
  return std::move(buffer).value();
}

std::unique_ptr<LayoutData> MakeLayout(const std::vector<int32_t>& lengths,
                                       const std::vector<int32_t>& past) {
  auto out = std::make_unique<LayoutData>();
  out->past = past;
  out->offsets.push_back(0);
  int64_t most = 1;
  for (size_t s = 0; s < lengths.size(); ++s) {
    out->offsets.push_back(out->offsets.back() + lengths[s]);
    out->sequence_of.insert(out->sequence_of.end(), lengths[s], static_cast<int32_t>(s));
    most = std::max<int64_t>(most, (past[s] + lengths[s] + kPageTokens - 1) / kPageTokens);
  }
  out->page_count = most * static_cast<int64_t>(lengths.size()) + 1;
  out->pages.resize(out->page_count);
  std::iota(out->pages.begin(), out->pages.end(), 0);
  std::shuffle(out->pages.begin(), out->pages.end(), std::mt19937(1));
  out->view = {static_cast<int>(lengths.size()),
               out->offsets.back(),
               out->offsets.data(),
               out->past.data(),
               out->pages.data(),
               most,
               out->sequence_of.data()};
  return out;
}

CaseData DrawCase(const OpRecord& op, const OpCase& test, uint32_t seed) {
  CaseData data;
  data.op = &op;
  data.test = test;
  data.tensors.resize(test.inputs.size());
  data.stored.resize(test.inputs.size());
  InferOutputs(data);
  if (!test.lengths.empty()) data.layout = MakeLayout(test.lengths, test.past);
  std::mt19937 random(seed);
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    if (data.IsTensor(i)) DrawTensor(data, i, random);
    if (data.present[i] && op.inputs[i].kind == Kind::kKvCache)
      DrawCache(data, test.inputs[i], random);
  }
  return data;
}

int64_t StepRows(const CaseData& data) {
  if (data.layout) return data.layout->view.tokens;
  return data.outputs[0].shape[0].constant().value_or(0);
}

CaseData SliceCase(const CaseData& data, int64_t first, int64_t rows, int sequence) {
  CaseData out;
  out.op = data.op;
  out.test = data.test;
  out.tensors = data.tensors;
  out.stored.resize(data.stored.size());
  if (data.layout) {
    out.test.lengths = {data.test.lengths[sequence]};
    out.test.past = {data.test.past[sequence]};
    out.layout = MakeLayout(out.test.lengths, out.test.past);
    out.cache = {data.cache.kv_heads, data.cache.head_dim, {}, {}};
    if (!data.cache.keys.empty()) {
      out.cache.keys = {data.cache.keys[sequence]};
      out.cache.values = {data.cache.values[sequence]};
    }
  }
  for (size_t i = 0; i < data.tensors.size(); ++i) {
    ValueType& type = out.test.inputs[i];
    RefTensor& tensor = out.tensors[i];
    if (type.kind == Kind::kLayout) type.shape = {rows, 1};
    if (!data.IsTensor(i)) continue;
    const bool vector = type.shape.size() == 1;
    if (data.op->inputs[i].form == ConstantForm::kPanels) {
      out.stored[i] = AllocateBuffer(data.stored[i].size());
      std::memcpy(out.stored[i].data(), data.stored[i].data(), data.stored[i].size());
      continue;
    }
    if (type.shape[0] == Dim(StepRows(data)) && (!vector || type.dtype == DType::kI32)) {
      const int64_t columns = vector ? 1 : tensor.columns();
      type.shape[0] = tensor.shape[0] = rows;
      const auto begin = data.tensors[i].data.begin() + first * columns;
      tensor.data.assign(begin, begin + rows * columns);
    }
    StorePlain(out, i);
  }
  InferOutputs(out);
  return out;
}

}  // namespace tboost
