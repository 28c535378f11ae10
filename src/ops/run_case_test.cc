// Running a drawn case: its reference, and its kernel call on memory of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "src/base/cpu_features.h"
#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

using Kind = ValueType::Kind;

// The pages of a reference cache and back. What no token has stays NaN.
class Pages {
 public:
  Pages(const CaseData& data) : data_(data), layout_(*data.layout) {
    view_ = {nullptr, 0, data.cache.kv_heads, data.cache.head_dim, DType::kF32};
    view_.page_stride = view_.PageBytes();
    memory_.assign(layout_.page_count * view_.page_stride / sizeof(float), NAN);
    view_.base = reinterpret_cast<std::byte*>(memory_.data());
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
        const int64_t page = layout_.view.PageOf(static_cast<int>(s), token);
        f(view_.Keys(page, head).row<float>(slot) + column, cache.keys[s][i]);
        f(view_.Values(page, head).row<float>(slot) + column, cache.values[s][i]);
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
      : memory_(AllocateBuffer((shape.elements() + shape[0] * padding) * 4)) {
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
};

void RunTasks(const KernelCall& call, uint32_t order) {
  std::vector<int64_t> tasks(call.tasks(call.args.data()));
  std::iota(tasks.begin(), tasks.end(), 0);
  if (order) std::shuffle(tasks.begin(), tasks.end(), std::mt19937(order));
  const size_t bytes = call.scratch(call.args.data());
  const Buffer scratch = AllocateBuffer(bytes);
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

Results RunReference(const CaseData& data) {
  Results out;
  out.cache = data.cache;
  std::vector<RefOperand> operands(data.tensors.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!data.present[i]) continue;
    operands[i].dtype = data.test.inputs[i].dtype;
    if (data.IsTensor(i)) operands[i].tensor = &data.tensors[i];
    if (data.op->inputs[i].kind == Kind::kLayout) operands[i].layout = &data.layout->view;
    if (data.op->inputs[i].kind == Kind::kKvCache) operands[i].cache = &out.cache;
  }
  for (const ValueType& type : data.outputs) {
    RefTensor& tensor = out.tensors.emplace_back();
    if (type.kind != Kind::kTensor) continue;
    tensor.shape = KnownShape(type);
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
    if (!data.IsTensor(i)) continue;
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
    results[i] = std::make_unique<PaddedTensor>(KnownShape(type), type.dtype,
                                                PaddingOf(data, type, options));
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
  const Result<std::vector<Isa>> isas = SelectedIsas();
  EXPECT_TRUE(isas.ok());
  std::vector<const kernels::KernelTable*> tables;
  if (!isas.ok()) return tables;
  for (Isa isa : *isas) tables.push_back(&kernels::Kernels(isa));
  return tables;
}

std::string OpTestName(const testing::TestParamInfo<const OpRecord*>& info) {
  return std::string(info.param->name);
}

}  // namespace tboost
