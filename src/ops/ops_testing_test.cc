#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "src/base/cpu_features.h"
#include "src/ops/interpreter.h"
#include "src/ops/ops_testing.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

using Kind = ValueType::Kind;

Shape ShapeOf(const ValueType& type) {
  const Result<Shape> shape = ConcreteShape(type);
  EXPECT_TRUE(shape.ok()) << shape.status().message();
  return shape.ok() ? *shape : Shape();
}

bool IsTensor(const CaseData& data, size_t i) {
  return data.present[i] && data.op->inputs[i].kind == Kind::kTensor;
}

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
  std::string out(*StorageBytes(dtype, rows * k), '\0');
  if (!info.quantised()) {
    std::vector<float> row(k);
    for (int64_t r = 0; r < rows; ++r) {
      for (float& x : row) x = normal(random);
      ConvertRow(row.data(), k, dtype, out.data() + r * k * info.block_bytes);
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

Buffer Allocate(size_t bytes) {
  Result<Buffer> buffer = Buffer::Allocate(std::max<size_t>(bytes, 64));
  EXPECT_TRUE(buffer.ok());
  return std::move(buffer).value();
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
  data.stored[i] = Allocate(*PackedBytes(dtype, n, k));
  PackPanels(dtype, rows.data(), n, k, data.stored[i].data());
}

void StorePlain(CaseData& data, size_t i) {
  const RefTensor& tensor = data.tensors[i];
  data.stored[i] = Allocate(tensor.data.size() * sizeof(float));
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
  tensor.shape = ShapeOf(data.test.inputs[i]);
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
  const Shape shape = ShapeOf(type);
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

// The pages of a reference cache and back. What no token has stays NaN.
class Pages {
 public:
  Pages(const CaseData& data) : data_(data), layout_(*data.layout) {
    const int64_t floats = KvPageFloats(data.cache.kv_heads, data.cache.head_dim);
    memory_.assign(layout_.page_count * floats, NAN);
    view_ = {memory_.data(), floats, data.cache.kv_heads, data.cache.head_dim};
    RefKvCache cache = data.cache;
    Visit(cache, [](float* stored, double& value) { *stored = static_cast<float>(value); });
  }
  KvCacheView view() const { return view_; }

  // Every sequence's tokens, of the past and of the step.
  RefKvCache Read() {
    RefKvCache cache = data_.cache;
    for (size_t s = 0; s < cache.keys.size(); ++s) {
      const int64_t tokens = data_.test.past[s] + data_.test.lengths[s];
      cache.keys[s].resize(tokens * cache.kv_heads * cache.head_dim);
      cache.values[s].resize(cache.keys[s].size());
    }
    Visit(cache, [](float* stored, double& value) { value = *stored; });
    return cache;
  }

 private:
  template <class F>
  void Visit(RefKvCache& cache, F&& f) {
    const int64_t d = cache.head_dim, width = cache.kv_heads * d;
    for (size_t s = 0; s < cache.keys.size(); ++s)
      for (int64_t i = 0; i < static_cast<int64_t>(cache.keys[s].size()); ++i) {
        const int64_t token = i / width, slot = token % kPageTokens, column = i % d;
        const int head = static_cast<int>(i % width / d);
        const int64_t page = layout_.view.pages[s * layout_.view.max_pages + token / kPageTokens];
        f(view_.KeyPage(page, head) + (slot / 16 * d + column) * 16 + slot % 16, cache.keys[s][i]);
        f(view_.ValuePage(page, head) + slot * d + column, cache.values[s][i]);
      }
  }

  const CaseData& data_;
  const LayoutData& layout_;
  std::vector<float> memory_;
  KvCacheView view_;
};

// Rows of 4-byte elements `padding` further apart than they must be, in memory of its own.
class PaddedTensor {
 public:
  PaddedTensor(const Shape& shape, DType dtype, int64_t padding)
      : memory_(Allocate((shape.elements() + shape[0] * padding) * 4)), padding_(padding) {
    std::memset(memory_.data(), 0xff, memory_.size());  // NaN
    view_ = {memory_.data(), dtype, shape, shape.back() + padding};
  }
  const TensorView& view() const { return view_; }
  char* row(int64_t r) const { return memory_.data() + r * view_.stride() * 4; }
  void Fill(const char* rows) {
    const int64_t bytes = view_.shape.back() * 4;
    for (int64_t r = 0; r < view_.rows(); ++r) std::memcpy(row(r), rows + r * bytes, bytes);
  }
  RefTensor Read() const {
    RefTensor out{view_.shape, {}};
    for (int64_t r = 0; r < view_.rows(); ++r)
      for (int64_t c = 0; c < view_.stride(); ++c) {
        float value;
        int32_t index;
        std::memcpy(&value, row(r) + c * 4, 4);
        std::memcpy(&index, row(r) + c * 4, 4);
        if (c < view_.shape.back())
          out.data.push_back(view_.dtype == DType::kI32 ? index : static_cast<double>(value));
        else
          EXPECT_EQ(index, -1) << "row " << r << " was written past its end";
      }
    return out;
  }

 private:
  Buffer memory_;
  TensorView view_;
  int64_t padding_;
};

void RunTasks(const KernelCall& call, uint32_t order) {
  std::vector<int64_t> tasks(call.tasks(call.args.data()));
  std::iota(tasks.begin(), tasks.end(), 0);
  if (order) std::shuffle(tasks.begin(), tasks.end(), std::mt19937(order));
  const size_t bytes = call.scratch(call.args.data());
  const Buffer scratch = Allocate(bytes);
  for (int64_t task : tasks) {
    std::memset(scratch.data(), 0xff, scratch.size());
    call.invoke(call.fn, call.args.data(), task, {scratch.data(), bytes});
  }
}

// Matrices of rows may lie apart; a vector of the step (indices) and constants may not.
int64_t PaddingOf(const CaseData& data, const ValueType& type, const RunOptions& options) {
  return type.shape.size() == 2 && type.dtype == DType::kF32 && type.shape[0] == Dim(StepRows(data))
             ? options.padding
             : 0;
}

}  // namespace

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
    if (IsTensor(data, i)) DrawTensor(data, i, random);
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
    if (!IsTensor(data, i)) continue;
    const bool vector = type.shape.size() == 1;
    if (data.op->inputs[i].form == ConstantForm::kPanels) {
      out.stored[i] = Allocate(data.stored[i].size());
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

Results RunReference(const CaseData& data) {
  Results out;
  out.cache = data.cache;
  std::vector<RefOperand> operands(data.tensors.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!data.present[i]) continue;
    if (IsTensor(data, i)) operands[i].tensor = &data.tensors[i];
    if (data.op->inputs[i].kind == Kind::kLayout) operands[i].layout = &data.layout->view;
    if (data.op->inputs[i].kind == Kind::kKvCache) operands[i].cache = &out.cache;
  }
  for (const ValueType& type : data.outputs) {
    RefTensor& tensor = out.tensors.emplace_back();
    if (type.kind != Kind::kTensor) continue;
    tensor.shape = ShapeOf(type);
    tensor.data.resize(tensor.shape.elements());
  }
  const Status status = data.op->reference({operands, out.tensors, &data.test.attributes});
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

Results RunLowered(const CaseData& data, const kernels::KernelTable& kernels,
                   const RunOptions& options) {
  std::vector<std::unique_ptr<PaddedTensor>> memory;
  std::vector<TensorView> inputs(data.tensors.size()), outputs(data.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!IsTensor(data, i)) continue;
    const ValueType& type = data.test.inputs[i];
    if (data.op->inputs[i].form == ConstantForm::kPanels) {
      inputs[i] = {data.stored[i].data(), type.dtype, data.tensors[i].shape};
      continue;
    }
    memory.push_back(std::make_unique<PaddedTensor>(data.tensors[i].shape, type.dtype,
                                                    PaddingOf(data, type, options)));
    memory.back()->Fill(data.stored[i].data());
    inputs[i] = memory.back()->view();
  }
  std::vector<std::unique_ptr<PaddedTensor>> results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueType& type = data.outputs[i];
    if (type.kind != Kind::kTensor) continue;
    results[i] =
        std::make_unique<PaddedTensor>(ShapeOf(type), type.dtype, PaddingOf(data, type, options));
    outputs[i] = results[i]->view();
  }
  if (options.in_place) {
    const size_t operand = data.op->in_place_input;
    results[0]->Fill(data.stored[operand].data());
    inputs[operand] = outputs[0];
  }
  std::unique_ptr<Pages> pages;
  if (!data.cache.keys.empty()) pages = std::make_unique<Pages>(data);
  LowerContext context = {inputs,
                          outputs,
                          &data.test.attributes,
                          data.layout ? &data.layout->view : nullptr,
                          pages ? pages->view() : KvCacheView(),
                          &kernels,
                          options.threads,
                          1 << 20};
  const Result<KernelCall> call = data.op->lower(context);
  EXPECT_TRUE(call.ok()) << call.status().message();
  Results out;
  if (!call.ok()) return out;
  RunTasks(*call, options.order);
  for (const auto& result : results) out.tensors.push_back(result ? result->Read() : RefTensor());
  if (pages) out.cache = pages->Read();
  return out;
}

bool SameBits(const Results& a, const Results& b) {
  const auto same = [](const std::vector<double>& x, const std::vector<double>& y) {
    return x.size() == y.size() &&
           (x.empty() || std::memcmp(x.data(), y.data(), x.size() * 8) == 0);
  };
  for (size_t i = 0; i < a.tensors.size(); ++i)
    if (!same(a.tensors[i].data, b.tensors[i].data)) return false;
  return std::ranges::equal(a.cache.keys, b.cache.keys, same) &&
         std::ranges::equal(a.cache.values, b.cache.values, same);
}

std::vector<const kernels::KernelTable*> MachineTables() {
  const Result<Isa> highest = SelectedIsa();
  EXPECT_TRUE(highest.ok());
  std::vector<const kernels::KernelTable*> tables;
  for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512})
    if (highest.ok() && isa <= *highest) tables.push_back(&kernels::Kernels(isa));
  return tables;
}

std::string OpTestName(const testing::TestParamInfo<const OpRecord*>& info) {
  return std::string(info.param->name);
}

}  // namespace tboost
